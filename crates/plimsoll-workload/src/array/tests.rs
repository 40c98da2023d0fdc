//! What a plan asks for stands for the arrays that its reader expects, and what cannot be is refused.

use super::*;

fn names(text: &str) -> Vec<String> {
    expand(text).unwrap().into_iter().map(|array| array.name).collect()
}

fn expand(text: &str) -> Result<Vec<Array>, ValueError> {
    toml::from_str::<Striping>(text).unwrap().expand()
}

fn error(text: &str) -> String {
    expand(text).unwrap_err().to_string()
}

#[test]
fn lists_span_a_product_and_are_named_by_what_they_are_made_of() {
    let text = r#"
        devices = ["/dev/a", "/dev/b", "/dev/c"]
        [[array]]
        kind = ["md", "lvm", "btrfs"]
        disks = [2, 3]
        file_system = ["raw", "ext4"]
        [[array]]
        kind = "none"
        file_system = "ext4"
        cluster_size = ["4k", "32k"]
        [[array]]
        name = "wide"
        kind = "dm"
        chunk = "256k"
        file_system = "xfs"
    "#;
    let expected = [
        "md-2",
        "md-2-ext4",
        "md-3",
        "md-3-ext4",
        "lvm-2",
        "lvm-2-ext4",
        "lvm-3",
        "lvm-3-ext4",
        "btrfs-2",
        "btrfs-3",
        "none-1-ext4",
        "none-1-ext4-32KiB",
        "wide",
    ];
    assert_eq!(names(text), expected);
    let arrays = expand(text).unwrap();
    let wide = arrays.last().unwrap();
    assert_eq!((wide.disks.as_slice(), wide.chunk_bytes, wide.block_bytes), (&[0, 1, 2][..], 256 << 10, Some(4096)));
    assert!(arrays.iter().filter(|array| array.kind == ArrayKind::Btrfs).all(|array| !array.is_raw()));
}

#[test]
fn groups_say_which_disks_an_array_is_made_of() {
    let text = |placement: &str, disks: u32| {
        let devices = r#"devices = ["/dev/a", "/dev/b", "/dev/c", "/dev/d"]"#;
        let groups = r#"groups = ["x", "x", "y", "y"]"#;
        format!("{devices}\n{groups}\n[[array]]\nkind = \"md\"\ndisks = {disks}\nplacement = \"{placement}\"")
    };
    let disks = |placement: &str, count| expand(&text(placement, count)).unwrap()[0].disks.clone();
    assert_eq!(disks("in-order", 3), [0, 1, 2]);
    assert_eq!(disks("together", 2), [0, 1]);
    assert_eq!(disks("apart", 2), [0, 2]);
    assert_eq!(disks("apart", 4), [0, 2, 1, 3]);
    assert_eq!(names(&text("apart", 2)), ["md-2-apart"]);
    assert!(error(&text("together", 3)).contains("no group has 3 disks"));
}

#[test]
fn disks_side_by_side_have_no_chunk() {
    let text = r#"
        devices = ["/dev/a", "/dev/b", "/dev/c"]
        [[array]]
        kind = ["md", "jbod"]
        disks = 2
        chunk = ["64k", "128k"]
        file_system = "ext4"
    "#;
    assert_eq!(names(text), ["md-2-ext4", "md-2-chunk-128KiB-ext4", "jbod-2-ext4"]);
    let striping: Striping = toml::from_str(text).unwrap();
    assert_eq!(striping.unused(&striping.expand().unwrap()), Some("/dev/c"));
}

#[test]
fn the_matrix_is_what_its_source_measured() {
    let text = r#"
        devices = ["/dev/a", "/dev/b", "/dev/c", "/dev/d"]
        groups = ["one", "one", "one", "two"]
        preset = "matrix"
        kinds = ["md", "lvm"]
    "#;
    let expected = [
        "none-1-ext4",
        "none-1-ext4-8KiB",
        "none-1-ext4-16KiB",
        "none-1-ext4-32KiB",
        "none-1-ext4-64KiB",
        "md-3-ext4",
        "md-3-ext4-8KiB",
        "md-3-ext4-16KiB",
        "md-3-ext4-32KiB",
        "md-3-ext4-64KiB",
        "md-2-ext4",
        "lvm-2-ext4",
        "lvm-3-ext4",
        "md-4-ext4",
        "lvm-4-ext4",
        "md-2-together-ext4",
        "md-2-apart-ext4",
    ];
    assert_eq!(names(text), expected);
    let one = names("devices = [\"/dev/a\"]\npreset = \"matrix\"");
    assert_eq!(one.len(), 5, "one disk has nothing to be put together with: {one:?}");
}

#[test]
fn what_cannot_be_is_refused_with_what_to_do() {
    let devices = "devices = [\"/dev/a\", \"/dev/b\"]\n";
    for (text, words) in [
        ("", "no array is asked for"),
        ("[[array]]\ndisks = 2", "has a kind"),
        ("[[array]]\nkind = \"md\"\ndisks = 3", "2 are listed"),
        ("[[array]]\nkind = \"btrfs\"\nchunk = \"128k\"", "always 64KiB"),
        ("[[array]]\nkind = \"btrfs\"\nfile_system = \"ext4\"", "leave file_system out"),
        ("[[array]]\nkind = \"md\"\ndisks = 0", "take 1 or more"),
        ("[[array]]\nkind = \"md\"\nchunk = \"48k\"", "a power of two"),
        ("[[array]]\nfile_system = \"ext4\"\ncluster_size = \"2k\"", "smaller than a block"),
        ("[[array]]\nkind = \"md\"\nplacement = \"apart\"", "without two groups"),
        ("groups = [\"a\"]\n[[array]]\nkind = \"md\"", "its group"),
        ("group_limits = { a = \"iops=500\" }\n[[array]]\nkind = \"md\"", "group of no device"),
        ("kinds = [\"md\"]\n[[array]]\nkind = \"md\"", "add preset"),
        ("groups = [\"a\", \" \"]\n[[array]]\nkind = \"md\"", "without a name"),
        ("groups = [\"a\", \"a\"]\n[[array]]\nkind = \"md\"\nplacement = \"apart\"", "without two groups"),
        ("[[array]]\nkind = \"jbod\"\nfile_system = \"ext4\"\nchunk = \"64k\"", "side by side"),
        ("[[array]]\nfile_system = \"xfs\"\ncluster_size = \"8k\"", "cluster_size is of ext4"),
        ("[[array]]\nkind = \"btrfs\"\nblock_size = \"8k\"", "block_size is of ext4 and xfs"),
        ("[[array]]\nfile_system = \"ext4\"\nblock_size = \"512\"", "from 1KiB to 64KiB"),
        ("[[array]]\nfile_system = \"ext4\"\nblock_size = \"128k\"", "no blocks of 128KiB"),
        ("[[array]]\nname = \"a/b\"", "no name of an array"),
        (&format!("[[array]]\ndisks = {:?}\nkind = \"md\"", (1..2000).collect::<Vec<_>>()), "more than 128 arrays"),
        ("[[array]]\nname = \"a\"\n[[array]]\nname = \"a\"\nkind = \"md\"", "two different arrays"),
    ] {
        let error = error(&format!("{devices}{text}"));
        assert!(error.contains(words), "{text}: {error}");
    }
}
