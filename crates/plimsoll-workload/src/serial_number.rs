//! Serial numbers of disks, as plimsoll tells, notes and compares them.

/// What stands between the serial number of an NVMe controller and the number of a namespace of it.
const NAMESPACE: &str = ", namespace ";

/// The serial number of a disk. All disks of an NVMe controller tell the controller's; the first one is called by it
/// alone, because most controllers have no other.
pub fn of_namespace(serial: String, namespace: Option<u32>) -> String {
    match namespace {
        Some(number) if number > 1 => format!("{serial}{NAMESPACE}{number}"),
        _ => serial,
    }
}

/// Whether a serial number is the one that was noted. Once that of an NVMe controller was, without the namespace.
pub fn is_noted(noted: Option<&str>, is: Option<&str>) -> bool {
    let without_namespace = || Some(is?.rsplit_once(NAMESPACE)?.0);
    noted == is || noted.is_some() && noted == without_namespace()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_namespace_of_a_controller_is_another_disk_and_notes_without_one_are_good() {
        let of = |namespace| of_namespace("x".to_owned(), namespace);
        let [first, second, third] = [1, 2, 3].map(|number| of(Some(number)));
        assert_eq!([&first, &of(None)], ["x"; 2]);
        let [first, second, third] = [&first, &second, &third].map(|serial| Some(serial.as_str()));
        assert!(is_noted(second, second) && is_noted(first, first) && is_noted(None, None));
        assert!(!is_noted(second, third) && !is_noted(second, first) && !is_noted(None, second));
        assert!(is_noted(first, second), "noted before namespaces were told apart");
    }
}
