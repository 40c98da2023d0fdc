//! Layouts of real files.

use super::*;
use crate::objects::Owner;

fn go_on(_: u64, _: u64) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

/// No objects of a run: the files of these tests are everybody's.
fn nothing() -> TestObjects {
    TestObjects::new(Owner::this_process(uuid::Uuid::nil()), None)
}

fn file(directory: &Path, name: &str, bytes: u64) -> LayoutFile {
    let path = directory.join(name);
    File::create(&path).unwrap();
    LayoutFile { path, bytes }
}

#[test]
fn every_byte_of_every_file_is_what_its_place_demands() {
    let directory = tempfile::tempdir().unwrap();
    let sizes = [3 << 20, 0, (1 << 20) + 4097, 1];
    let files: Vec<_> =
        sizes.iter().enumerate().map(|(index, bytes)| file(directory.path(), &index.to_string(), *bytes)).collect();
    let content = random_content(5);
    let mut last = (0, 0);
    let mut progress = |written, total| {
        last = (written, total);
        ControlFlow::Continue(())
    };
    let report = lay_out(&files, &nothing(), &content, &mut progress, &AtomicBool::new(false)).unwrap();
    let total = sizes.iter().sum();
    assert_eq!((report.bytes, last), (total, (total, total)));
    for (index, file) in files.iter().enumerate() {
        let found = std::fs::read(&file.path).unwrap();
        let mut wanted = vec![0; sizes[index] as usize];
        for (chunk, bytes) in wanted.chunks_mut(1 << 20).enumerate() {
            content(index, (chunk as u64) << 20, bytes);
        }
        assert!(found == wanted, "file {index}");
    }
}

#[test]
fn pieces_are_never_cut() {
    assert_eq!(chunk_bytes(4096), 1 << 20);
    assert_eq!(chunk_bytes(4 << 20), 4 << 20);
    for piece in [1, 512, 3072, 4096, 5000, 65_536, 3 << 20, (64 << 20) - 512, 64 << 20] {
        let chunk = chunk_bytes(piece);
        assert!(chunk.is_multiple_of(piece) && chunk <= CHUNK_BYTES_MAX, "{piece} {chunk}");
        assert!(chunk.is_multiple_of(4096) || piece > 8 << 20, "{piece} {chunk}");
    }
    let directory = tempfile::tempdir().unwrap();
    for piece in [3072, 2 << 20] {
        let files = [file(directory.path(), &piece.to_string(), u64::from(piece) * 700 % (9 << 20))];
        let stamp = |_: usize, offset: u64, buffer: &mut [u8]| {
            assert_eq!(offset % u64::from(piece), 0);
            for (index, bytes) in buffer.chunks_mut(piece as usize).enumerate() {
                bytes.fill((offset / u64::from(piece) + index as u64) as u8);
            }
        };
        lay_out_in_pieces(&files, &nothing(), piece, &stamp, &mut go_on, &AtomicBool::new(false)).unwrap();
        let found = std::fs::read(&files[0].path).unwrap();
        assert!(found.chunks(piece as usize).enumerate().all(|(at, bytes)| bytes.iter().all(|b| *b == at as u8)));
    }
}

#[test]
fn random_content_differs_between_places_and_seeds() {
    let bytes = |seed, file, offset| {
        let mut bytes = [0; 4096];
        random_content(seed)(file, offset, &mut bytes);
        bytes
    };
    assert_eq!(bytes(1, 0, 0), bytes(1, 0, 0));
    for other in [bytes(2, 0, 0), bytes(1, 1, 0), bytes(1, 0, 1 << 20)] {
        assert_ne!(bytes(1, 0, 0), other);
    }
}

#[test]
fn a_layout_ends_when_it_is_asked_to() {
    let directory = tempfile::tempdir().unwrap();
    let files = [file(directory.path(), "a", 256 << 20)];
    let stop = AtomicBool::new(false);
    // The fourth chunk asks, so every writer ends with the chunk it has.
    let stopping = |_: usize, offset: u64, _: &mut [u8]| {
        stop.fetch_or(offset >= 3 << 20, Ordering::Relaxed);
    };
    let error = lay_out(&files, &nothing(), &stopping, &mut go_on, &stop).unwrap_err();
    let LayoutError::Stopped { written_bytes } = error else {
        panic!("{error}");
    };
    assert!(written_bytes < 16 << 20, "{written_bytes}");
    let mut gives_up = |_, _| ControlFlow::Break(());
    let slow = |_: usize, _: u64, _: &mut [u8]| thread::sleep(Duration::from_millis(5));
    let error = lay_out(&files, &nothing(), &slow, &mut gives_up, &AtomicBool::new(false)).unwrap_err();
    assert!(matches!(error, LayoutError::Stopped { .. }), "{error}");
}

#[test]
fn a_symbolic_link_in_the_place_of_a_file_is_not_followed() {
    let directory = tempfile::tempdir().unwrap();
    let victim = directory.path().join("victim");
    std::fs::write(&victim, "precious").unwrap();
    let path = directory.path().join("link");
    std::os::unix::fs::symlink(&victim, &path).unwrap();
    let files = [LayoutFile { path, bytes: 1 << 20 }];
    lay_out(&files, &nothing(), &random_content(1), &mut go_on, &AtomicBool::new(false)).unwrap_err();
    assert_eq!(std::fs::read(&victim).unwrap(), b"precious");
}

#[test]
fn more_than_the_file_system_holds_is_refused_before_anything_is_written() {
    let directory = tempfile::tempdir().unwrap();
    let files = [file(directory.path(), "a", 1 << 60)];
    let error = lay_out(&files, &nothing(), &random_content(1), &mut go_on, &AtomicBool::new(false)).unwrap_err();
    assert!(matches!(error, LayoutError::NoSpace { .. }), "{error}");
    assert!(error.to_string().contains("lower --size"), "{error}");
    assert_eq!(files[0].path.metadata().unwrap().len(), 0);
}

#[test]
fn sets_of_files_in_several_directories_of_a_file_system_are_to_fit_together() {
    let root = tempfile::tempdir().unwrap();
    let directories = ["a", "b"].map(|name| root.path().join(name));
    directories.iter().for_each(|directory| std::fs::create_dir(directory).unwrap());
    let facts = statvfs(root.path()).unwrap();
    let [a, b] = directories.each_ref().map(|directory| &**directory);
    let each = |content_bytes: u64, names: u64| {
        move |sharing: &[&Path], _| {
            let count = sharing.len() as u64;
            Room { content_bytes: content_bytes * count, names: names * count }
        }
    };
    let bytes = free(&facts) / 3 * 2;
    check_room(&[a], each(bytes, 1)).unwrap();
    assert!(matches!(check_room(&[a, b], each(bytes, 1)), Err(LayoutError::NoSpace { .. })));
    if facts.f_files > 0 {
        let names = facts.f_favail / 2;
        check_room(&[a], each(0, names)).unwrap();
        assert!(matches!(check_room(&[a, b], each(0, names)), Err(LayoutError::NoInodes { .. })));
    }
}

#[test]
fn a_file_that_has_two_names_is_to_fit_once() {
    let root = tempfile::tempdir().unwrap();
    let bytes = free(&statvfs(root.path()).unwrap()) / 3 * 2;
    let file = |name: &str| LayoutFile { path: root.path().join(name), bytes };
    File::create(root.path().join("a")).unwrap();
    std::fs::hard_link(root.path().join("a"), root.path().join("b")).unwrap();
    check_free(&[file("a"), file("b")]).unwrap();
    File::create(root.path().join("c")).unwrap();
    assert!(matches!(check_free(&[file("a"), file("c")]), Err(LayoutError::NoSpace { .. })));
}
