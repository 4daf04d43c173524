//! Reference pictures that screenshots are compared with: `<class>.png`, `<class>.phash` (16 hexadecimal digits), or a folder
//! `<class>/` of several of either.

use std::path::{Path, PathBuf};

use super::evidence::{Exemplar, Known, Unknown};
use super::phash;

/// See the module.
#[derive(Debug, Clone)]
pub struct Classes {
    folder: PathBuf,
}

impl Classes {
    /// The classes in a folder, which need not be there.
    pub fn new(folder: PathBuf) -> Self {
        Self { folder }
    }

    /// The pictures of a class; never none. The name has been checked to be a plain one.
    pub(super) fn exemplars(&self, class_id: &str) -> Known<Vec<Exemplar>> {
        let mut files: Vec<PathBuf> =
            ["png", "phash"].iter().map(|end| self.folder.join(format!("{class_id}.{end}"))).collect();
        if let Ok(entries) = fs_err::read_dir(self.folder.join(class_id)) {
            let mut more: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
            more.sort();
            files.extend(more);
        }
        let read: Vec<Exemplar> = files
            .iter()
            .filter(|file| file.is_file())
            .filter_map(|file| self.exemplar(file).transpose())
            .collect::<Known<_>>()?;
        if read.is_empty() {
            let place = self.folder.join(format!("{class_id}.png"));
            return Err(Unknown::because(format!(
                "class {class_id:?} has no reference picture: save a screenshot as {}",
                place.display()
            )));
        }
        Ok(read)
    }

    fn exemplar(&self, file: &Path) -> Known<Option<Exemplar>> {
        let broken =
            |why: String| Unknown::because(format!("the reference picture {}: {why}", file.display()));
        let hash = match file.extension().and_then(|end| end.to_str()) {
            Some("png") => {
                let bytes = fs_err::read(file).map_err(|error| broken(error.to_string()))?;
                phash::of_png(&bytes).map_err(|error| broken(error.to_string()))?
            }
            Some("phash") => {
                let text = fs_err::read_to_string(file).map_err(|error| broken(error.to_string()))?;
                u64::from_str_radix(text.trim(), 16)
                    .map_err(|_| broken("it does not hold 16 hexadecimal digits".to_owned()))?
            }
            _ => return Ok(None),
        };
        let name = file.strip_prefix(&self.folder).unwrap_or(file).display().to_string();
        Ok(Some(Exemplar { name, hash }))
    }
}

#[cfg(test)]
mod tests {
    use super::phash::tests::picture;
    use super::*;

    #[test]
    fn pictures_hashes_and_folders_are_read() {
        let home = tempfile::tempdir().unwrap();
        let classes = Classes::new(home.path().to_path_buf());
        let none = classes.exemplars("done").unwrap_err().reason;
        assert!(none.contains("no reference picture") && none.contains("done.png"), "{none}");
        fs_err::write(home.path().join("done.phash"), "00000000000000ff\n").unwrap();
        fs_err::create_dir(home.path().join("done")).unwrap();
        fs_err::write(home.path().join("done/1.png"), picture(40, 40, |x, _| [x as u8; 3])).unwrap();
        fs_err::write(home.path().join("done/notes.txt"), "not a picture").unwrap();
        let names: Vec<_> = classes.exemplars("done").unwrap().into_iter().map(|one| one.name).collect();
        assert_eq!(names, ["done.phash", "done/1.png"]);
        fs_err::write(home.path().join("done.phash"), "zz").unwrap();
        assert!(classes.exemplars("done").unwrap_err().reason.contains("hexadecimal"));
    }
}
