//! Chrome for Testing: Google's builds of Chrome for automation, unpacked into the user's cache.
//!
//! A version's folder appears whole (by a rename) or not at all, so that [`find`](crate::find) never sees half of one.

use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::{apt, archive, download::Client, lock};
use crate::{
    Error, Found, Machine, Notes, Product, Source,
    find::own_executable,
    version::{misses_libraries, version},
};

/// Names of unfinished files; whoever holds the lock may remove all of them.
const UNFINISHED: &str = ".part-";

#[derive(Debug, Deserialize)]
struct Index {
    channels: Channels,
}

#[derive(Debug, Deserialize)]
struct Channels {
    #[serde(rename = "Stable")]
    stable: Build,
}

#[derive(Debug, Deserialize)]
struct Build {
    version: String,
    downloads: Downloads,
}

#[derive(Debug, Deserialize)]
struct Downloads {
    #[serde(default)]
    chrome: Vec<Download>,
}

#[derive(Debug, Deserialize)]
struct Download {
    platform: String,
    url: String,
}

/// This system's name in the index.
const PLATFORM: &str = if cfg!(target_os = "macos") {
    if cfg!(target_arch = "aarch64") { "mac-arm64" } else { "mac-x64" }
} else if cfg!(windows) {
    if cfg!(target_pointer_width = "64") { "win64" } else { "win32" }
} else if cfg!(target_arch = "x86_64") {
    "linux64"
} else {
    "linux-arm64"
};

pub(super) fn install(machine: &Machine, notes: &dyn Notes) -> Result<Found, Error> {
    let cache = machine.cache.as_deref().ok_or_else(no_home)?;
    notes.note("Asking for the newest stable Chrome for Testing, because no browser was found.");
    let client = Client::new(machine)?;
    let (newest, url) = newest(&client, machine)?;
    let path = fetch(&client, cache, &newest, &url, notes)?;
    match version(&path) {
        Err(error) if misses_libraries(&error) && apt::can_add_libraries(machine) => {
            notes.note(&format!("{error}. Installing them with apt-get, because this is root."));
            apt::install_libraries(machine)?;
            version(&path)?;
        }
        other => {
            other?;
        }
    }
    Ok(Found { path, source: Source::Surehand, product: Product::ChromeForTesting })
}

fn no_home() -> Error {
    Error::Io {
        doing: "cannot choose a cache for the browser",
        source: std::io::Error::other("this user has no home directory; set HOME or XDG_CACHE_HOME"),
    }
}

fn newest(client: &Client, machine: &Machine) -> Result<(String, String), Error> {
    let url = machine.index_url.as_str();
    let index: Index = serde_json::from_str(&client.text(url)?).map_err(|error| Error::Download {
        url: url.into(),
        why: format!("its answer is not the index of builds: {error}"),
    })?;
    let Build { version, downloads } = index.channels.stable;
    // The version becomes a folder's name.
    if version.is_empty() || !version.chars().all(|c| c.is_ascii_digit() || c == '.') {
        return Err(Error::Download {
            url: url.into(),
            why: format!("it names a strange version, {version:?}"),
        });
    }
    let build = downloads.chrome.into_iter().find(|download| download.platform == PLATFORM);
    let build = build.ok_or_else(|| Error::NoBuild { url: url.into(), platform: PLATFORM })?;
    Ok((version, build.url))
}

/// Brings one version into the cache, unless it is there already.
fn fetch(
    client: &Client,
    cache: &Path,
    version: &str,
    url: &str,
    notes: &dyn Notes,
) -> Result<PathBuf, Error> {
    fs_err::create_dir_all(cache).map_err(Error::io("cannot make the browser cache"))?;
    let _lock = lock::hold(cache, notes)?;
    let folder = cache.join(format!("chrome-{version}"));
    if let Some(path) = own_executable(&folder) {
        notes.note(&format!("Chrome for Testing {version} is in {} already.", folder.display()));
        return Ok(path);
    }
    remove_unfinished(cache);
    notes.note(&format!("Downloading Chrome for Testing {version} into {}.", cache.display()));
    let zip = cache.join(format!("{UNFINISHED}chrome-{version}.zip"));
    let unpacked = cache.join(format!("{UNFINISHED}chrome-{version}"));
    let result = client
        .file(url, &zip, "Chrome for Testing", notes)
        .and_then(|()| archive::unpack(&zip, &unpacked))
        .and_then(|()| place(&zip, &unpacked, &folder));
    remove_unfinished(cache);
    result
}

fn place(zip: &Path, unpacked: &Path, folder: &Path) -> Result<PathBuf, Error> {
    let holds_no_program =
        || Error::Archive { path: zip.to_owned(), why: "it holds no browser program".into() };
    own_executable(unpacked).ok_or_else(holds_no_program)?;
    if folder.exists() {
        fs_err::remove_dir_all(folder).map_err(Error::io("cannot replace a broken installation"))?;
    }
    fs_err::rename(unpacked, folder).map_err(Error::io("cannot put the browser into place"))?;
    own_executable(folder).ok_or_else(holds_no_program)
}

fn remove_unfinished(cache: &Path) {
    let Ok(entries) = fs_err::read_dir(cache) else { return };
    for entry in entries.flatten().filter(|entry| entry.file_name().to_string_lossy().starts_with(UNFINISHED))
    {
        let path = entry.path();
        let removed = if path.is_dir() { fs_err::remove_dir_all(&path) } else { fs_err::remove_file(&path) };
        if let Err(error) = removed {
            tracing::warn!(target: "browser", %error, "an unfinished download stays");
        }
    }
}
