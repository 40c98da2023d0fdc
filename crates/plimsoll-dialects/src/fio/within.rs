//! `--within=DIRECTORY`: the paths of jobs that were written for another machine, kept below one directory, so that
//! they can be tried without their devices and mounts.

use super::settings::{LogName, Settings};

/// Moves everything that a job opens below the directory. `/dev/sdb` becomes a file `DIRECTORY/dev/sdb`.
pub(super) fn keep(settings: &mut Settings, section: &mut String, name: &str, root: &str) {
    let files = &mut settings.files;
    let directories: Vec<String> = files.directories.iter().map(|path| below(root, path)).collect();
    if files.names.is_empty() {
        // A section that is called like a device stands for the device, unless it has another name.
        *section = section.replace('/', ".");
        files.format = below("", &files.format).trim_start_matches('/').to_owned();
        files.directories = if directories.is_empty() { [root.to_owned()].into() } else { directories.into() };
    } else {
        let directory = directories.first().map_or(root, String::as_str);
        files.names = files.names.iter().map(|path| below(directory, path)).collect();
        files.directories = [].into();
    }
    let report = &mut settings.report;
    let logs =
        [&mut report.bandwidth_log, &mut report.latency_log, &mut report.operations_log, &mut report.histogram_log];
    for log in logs.into_iter().flatten() {
        *log = LogName::Given(match log {
            LogName::OfJob => below(root, name),
            LogName::Given(prefix) => below(root, prefix),
        });
    }
}

/// The path below the root; what would lead out of it does not.
fn below(root: &str, path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    parts.iter().fold(root.trim_end_matches('/').to_owned(), |path, part| path + "/" + part)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(settings: Settings, section: &str) -> (Settings, String) {
        let (mut settings, mut section) = (settings, section.to_owned());
        let name = section.clone();
        keep(&mut settings, &mut section, &name, "/tmp/try/");
        (settings, section)
    }

    #[test]
    fn no_path_leads_out() {
        for (path, inside) in [
            ("/dev/sdb", "/r/dev/sdb"),
            ("a", "/r/a"),
            ("../../etc/passwd", "/r/etc/passwd"),
            ("/mnt/./x//y/", "/r/mnt/x/y"),
            ("a/../../b", "/r/b"),
            ("..", "/r"),
        ] {
            assert_eq!(below("/r", path), inside, "{path}");
        }
    }

    #[test]
    fn names_go_below_the_directory_and_that_below_the_root() {
        let mut settings = Settings::default();
        settings.files.names = ["/dev/sda".to_owned(), "b".to_owned()].into();
        assert_eq!(*kept(settings.clone(), "x").0.files.names, ["/tmp/try/dev/sda", "/tmp/try/b"]);
        settings.files.directories = ["/mnt/data".to_owned()].into();
        let (kept, _) = kept(settings, "x");
        assert_eq!(*kept.files.names, ["/tmp/try/mnt/data/dev/sda", "/tmp/try/mnt/data/b"]);
        assert!(kept.files.directories.is_empty());
    }

    #[test]
    fn a_section_is_not_a_device_and_its_logs_are_inside() {
        let mut settings = Settings::default();
        settings.files.format = "../$jobname".into();
        settings.report.bandwidth_log = Some(LogName::OfJob);
        settings.report.latency_log = Some(LogName::Given("/var/log/x".into()));
        let (kept, section) = kept(settings, "/dev/sda");
        assert_eq!((section.as_str(), kept.files.format.as_str()), (".dev.sda", "$jobname"));
        assert_eq!(*kept.files.directories, ["/tmp/try/"]);
        assert_eq!(kept.report.bandwidth_log, Some(LogName::Given("/tmp/try/dev/sda".into())));
        assert_eq!(kept.report.latency_log, Some(LogName::Given("/tmp/try/var/log/x".into())));
    }
}
