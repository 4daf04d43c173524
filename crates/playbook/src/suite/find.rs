//! The playbooks below a directory.

use std::io;
use std::path::{Path, PathBuf};

/// The endings of files that are tests.
const ENDINGS: [&str; 3] = [".playbook.yaml", ".playbook.yml", ".playbook.json"];

/// Folders that hold other people's files.
const FOREIGN: [&str; 2] = ["node_modules", "target"];

/// All tests below a directory, sorted; a file is a test whatever it is called. Hidden folders are left out.
pub fn find(place: &Path) -> io::Result<Vec<PathBuf>> {
    if place.is_file() {
        return Ok(vec![place.to_owned()]);
    }
    let mut found = Vec::new();
    let mut open = vec![place.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in fs_err::read_dir(&folder)? {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            // Links are not followed: they may lead in circles.
            let kind = entry.file_type()?;
            if kind.is_dir() && !name.starts_with('.') && !FOREIGN.contains(&name.as_str()) {
                open.push(entry.path());
            } else if kind.is_file() && ENDINGS.iter().any(|ending| name.ends_with(ending)) {
                found.push(entry.path());
            }
        }
    }
    found.sort();
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn playbooks_are_found_wherever_they_are() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        for name in ["b.playbook.yaml", "deep/er/a.playbook.yml", "c.playbook.json", "plain.yaml", "x.txt"] {
            let path = root.join(name);
            fs_err::create_dir_all(path.parent().unwrap()).unwrap();
            fs_err::write(path, "").unwrap();
        }
        for name in [".git", "node_modules", "target"] {
            fs_err::create_dir_all(root.join(name)).unwrap();
            fs_err::write(root.join(name).join("z.playbook.yaml"), "").unwrap();
        }
        let found = find(root).unwrap();
        let found: Vec<_> = found.iter().map(|path| path.strip_prefix(root).unwrap()).collect();
        let wanted = ["b.playbook.yaml", "c.playbook.json", "deep/er/a.playbook.yml"].map(Path::new);
        assert_eq!(found, wanted);
        assert_eq!(find(&root.join("plain.yaml")).unwrap().len(), 1);
        assert!(find(&root.join("none")).is_err());
    }
}
