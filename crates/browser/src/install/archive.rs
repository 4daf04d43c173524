//! Unpacking a downloaded browser.

use std::{io::BufReader, path::Path};

use fs_err::File;

use crate::Error;

/// Unpacks a zip file into a new directory. Paths that lead out of it are refused; modes and links are kept.
pub(super) fn unpack(zip: &Path, to: &Path) -> Result<(), Error> {
    let unusable = |why: String| Error::Archive { path: zip.to_owned(), why };
    let file = File::open(zip).map_err(Error::io("cannot read the download"))?;
    let mut archive =
        zip::ZipArchive::new(BufReader::new(file)).map_err(|error| unusable(error.to_string()))?;
    fs_err::create_dir_all(to).map_err(Error::io("cannot unpack"))?;
    archive.extract(to).map_err(|error| unusable(error.to_string()))
}
