//! Iometer's result files, and tables of which somebody names the columns.

use super::*;

fn iometer(columns: &str, rows: &[&str]) -> String {
    format!(
        "'Test Type,Test Description\n0,\n'Version\n1.1.0\n'Time Stamp\n2014-05-27 10:11:12:345\n'Access specifications\n\
         'Access specification name,default assignment\nDatabase,2\n'size,% of size,% reads,% random,delay,burst,align,\
         reply\n8192,100,67,100,0,1,0,0,\n'End access specifications\n'Results\n{columns}\n{}\n'Time Stamp\n\
         2014-05-27 10:12:12:345\n",
        rows.join("\n")
    )
}

const COLUMNS: &str = "'Target Type,Target Name,Access Specification Name,# Managers,# Workers,# Disks,IOps,Read IOps,\
                       Write IOps,Read MiBps (Binary),Write MiBps (Binary),Average Read Response Time,Average Write \
                       Response Time,Maximum Read Response Time,Errors,Bytes Read,Bytes Written,Read I/Os,Write I/Os,\
                       Queue Depth";

#[test]
fn iometer_tells_of_everything_in_one_row() {
    let rows = [
        "ALL,All,Database,1,2,1,300,200,100,1.5625,0.78125,2.5,5,80,0,16384000,8192000,2000,1000,32",
        "MANAGER,HOST,,,2,1,300,200,100,1.5625,0.78125,2.5,5,80,0,16384000,8192000,2000,1000,",
        "WORKER,Worker 1,,,,1,150,100,50,0.78125,0.390625,2.5,5,80,0,8192000,4096000,1000,500,",
        "WORKER,Worker 2,,,,1,150,100,50,0.78125,0.390625,2.5,5,80,0,8192000,4096000,1000,500,",
        "DISK,E:,,,,,300,200,100,1.5625,0.78125,2.5,5,80,0,16384000,8192000,2000,1000,",
    ];
    let found = find(&iometer(COLUMNS, &rows));
    let [result] = found.as_slice() else { panic!("{found:?}") };
    assert_eq!((result.target.as_deref(), result.workload.as_deref()), (Some("E:"), Some("Database")));
    assert_eq!(result.started, Some("2014-05-27T10:11:12Z".parse().unwrap()));
    assert_eq!(texts(result), [""; 0]);
    let load = transfers(result);
    assert_eq!((load.pattern.as_deref(), load.read_percent), (Some("randrw"), Some(67)));
    assert_eq!((load.block_size_bytes, load.queue_depth, load.jobs), (Some(8192), Some(32), Some(2)));
    assert_eq!(load.elapsed_ns, Some(10_000_000_000));
    let read = load.read.as_ref().unwrap();
    assert_eq!((read.operations, read.bytes), (Some(2000), Some(16_384_000)));
    assert!(close(read.bytes_per_second, 1_638_400.0) && close(read.latency_mean_ns, 2.5e6));
    assert!(close(Some(read.percentiles[0].latency_ns), 80e6));

    let wrong = find(&iometer(COLUMNS, &[rows[0], rows[2]]));
    assert_eq!(texts(&wrong[0]), ["the workers' 150.0 IOps are not those of all"]);
    let wrong = find(&iometer(COLUMNS, &[&rows[0].replace("1,300,", "1,400,")]));
    assert_eq!(texts(&wrong[0]), ["reads and writes together are not IOps"]);
}

#[test]
fn the_megabytes_of_old_versions_are_those_that_the_bytes_make() {
    let columns = COLUMNS.replace(" MiBps (Binary)", " MBps");
    let said = |rates: &str| {
        let row = format!("ALL,All,Database,1,1,1,300,200,100,{rates},2.5,5,80,0,16384000,8192000,2000,1000,32");
        let found = find(&iometer(&columns, &[&row]));
        assert!(close(transfers(&found[0]).read.as_ref().unwrap().bytes_per_second, 1_638_400.0));
        texts(&found[0]).join("; ")
    };
    assert!(said("1.5625,0.78125").contains("MBps are MiB/s"));
    assert!(said("1.6384,0.8192").contains("MBps are MB/s"));
    assert!(said("3,4").contains("MBps are not the bytes"));
}

fn columns(words: &[&str]) -> ColumnMap {
    ColumnMap::new(words.iter().map(|word| word.parse().unwrap()).collect())
}

#[test]
fn a_table_is_read_by_what_its_columns_are() {
    let map = columns(&[
        "target=Disk",
        "workload=Test",
        "block-size=bs",
        "read-iops=Read IOPS",
        "read-throughput=Read (MiB/s)",
        "write-latency[us]=Write lat",
        "write-latency-p99=Write p99 ms",
    ]);
    let header = ["Disk", "Test", "bs", "Read IOPS", "Read (MiB/s)", "Write lat", "Write p99 ms", "Remark"];
    let row = ["P30, old", "random", "4k", "2560", "10", "250", "1.5", "none"];
    for separator in [",", ";", "\t"] {
        let line = |cells: [&str; 8]| cells.map(|cell| format!("\"{cell}\"")).join(separator);
        let text = format!("a title\n{}\n{}\n\nsomething else, and more\n", line(header), line(row));
        let found = rows(&text, &map).unwrap();
        let [result] = found.as_slice() else { panic!("{separator}: {found:?}") };
        assert_eq!((result.target.as_deref(), result.workload.as_deref()), (Some("P30, old"), Some("random")));
        assert_eq!((result.told.source, result.told.lines), (Source::Csv, (3, 3)));
        let load = transfers(result);
        let [read, write] = [&load.read, &load.write].map(|direction| direction.as_ref().unwrap());
        assert_eq!((load.block_size_bytes, read.iops), (Some(4096), Some(2560.0)));
        assert!(close(read.bytes_per_second, 10.0 * 1_048_576.0));
        assert!(close(write.latency_mean_ns, 250e3) && close(Some(write.percentiles[0].latency_ns), 1.5e6));
        assert_eq!(texts(result), [""; 0]);
        let wrong = rows(&text.replace("2560", "5120"), &map).unwrap();
        assert_eq!(texts(&wrong[0]), ["reads are of 2048 bytes on average, and blocks of 4096 are told"]);
    }
    // A table of Markdown is one too.
    let text = "| a | b |\n|---|--:|\n| x | 5 |\n";
    let found = rows(text, &columns(&["target=a", "iops=b"])).unwrap();
    assert_eq!((found.len(), found[0].target.as_deref(), found[0].told.lines), (1, Some("x"), (3, 3)));
    // A value may have its own unit.
    let found = rows("a,b\n1.5 GiB/s,2 s\n", &columns(&["throughput=a", "elapsed[ms]=b"])).unwrap();
    let load = transfers(&found[0]);
    assert!(close(load.total.as_ref().unwrap().bytes_per_second, 1.5 * 1024_f64.powi(3)));
    assert_eq!(load.elapsed_ns, Some(2_000_000_000));
}

#[test]
fn a_table_that_cannot_be_read_says_where_and_what_to_do() {
    let said = |text: &str, words: &[&str]| rows(text, &columns(words)).unwrap_err().to_string();
    let separated = "; a comma, a semicolon, a tab or | is between two, and blanks are not";
    let without = |text: &str, words: &[&str]| said(text, words).strip_suffix(separated).map(str::to_owned);
    let names = without("a,b\n1,2\n", &["iops=a", "read-iops=c"]).unwrap();
    assert_eq!(names, "no line names \"c\": the columns are \"a\", \"b\"");
    let blanks = without("Device r/s\nsda 5\n", &["target=Device", "iops=r/s"]).unwrap();
    assert_eq!(blanks, "no line names \"Device\", \"r/s\": no line has columns");
    assert_eq!(
        said("a,b\n1,2\n", &["read-throughput=a"]),
        "column \"a\" does not say its unit: say it, as in read-throughput[MiB/s]=a"
    );
    assert_eq!(said("a,b\n1,2\n3\n", &["iops=a"]), "line 3 has 1 columns, and the line that names them 2");
    let wrong = "line 2: \"many\" in column \"a\" is not a number that is understood";
    assert_eq!(said("a,b\nmany,2\n", &["iops=a"]), wrong);
    assert_eq!(said("a,b\n1,2\n", &["target=a"]), "no column is a number: name one, as in iops=COLUMN");
    let refused = |word: &str| word.parse::<ColumnOf>().unwrap_err();
    assert!(refused("iops").contains("names no column"));
    assert!(refused("iosp=a").contains("\"iosp\" is nothing that is read"));
    assert_eq!(refused("latency[MB]=a"), "\"MB\" is no unit of latency: write one as in [ms] or [us]");
}

#[test]
fn shares_of_reads_are_told_by_their_column() {
    let of = |cells: &[&str]| {
        let text: String = cells.iter().map(|cell| format!("{cell};5\n")).collect();
        let found = rows(&format!("a;b\n{text}"), &columns(&["read-percent=a", "iops=b"])).unwrap();
        found.iter().map(|result| transfers(result).read_percent.unwrap()).collect::<Vec<_>>()
    };
    assert_eq!(of(&["0.0", "0.7", "1.0"]), [0, 70, 100]);
    assert_eq!(of(&["0,5", "1"]), [50, 100]);
    assert_eq!(of(&["0", "1"]), [0, 1]);
    assert_eq!(of(&["0.7", "1.0", "70"]), [1, 1, 70]);
    assert_eq!(of(&["0.7%", "1.0 %"]), [1, 1]);
}

#[test]
fn separators_of_thousands_are_told_from_those_of_decimals() {
    let of = |text: &str| {
        let found = rows(text, &columns(&["iops=a", "latency[ms]=b"])).unwrap();
        let total = |result: &FoundResult| transfers(result).total.clone().unwrap_or_default();
        let each = found.iter().map(total).map(|of| (of.iops, of.latency_mean_ns.map(|ns| ns / 1e6)));
        each.collect::<Vec<_>>()
    };
    let both = |iops, latency| (Some(iops), Some(latency));
    // What is between commas has none of its own before decimals.
    assert_eq!(of("a,b\n\"12,345\",1.5\n999,\"1,234.5\"\n"), [both(12_345.0, 1.5), both(999.0, 1234.5)]);
    // One number that is clear tells of all.
    assert_eq!(of("a;b\n12.345;1,5\n999;1.234,5\n"), [both(12_345.0, 1.5), both(999.0, 1234.5)]);
    // A line without anything does not end a table, and text below it does.
    assert_eq!(of("a;b\n1e3;2\nn/a;-\n\n5;3\nand so on\n6;3\n"), [both(1000.0, 2.0), (None, None), both(5.0, 3.0)]);
    let refused = |words: &[&str]| rows("a,a,b\n1,2,3\n", &columns(words)).unwrap_err().to_string();
    assert_eq!(refused(&["iops=a"]), "several columns are called \"a\": rename one");
    assert_eq!(refused(&["iops=b", "iops=a"]), "iops is said of two columns: name one");
    assert_eq!(rows("IOPS\n500\n", &columns(&["iops=IOPS"])).unwrap().len(), 1);
    // A word of a name is no unit.
    let said = rows("Server's latency,b\n5,1\n", &columns(&["latency=Server's latency"])).unwrap_err().to_string();
    assert!(said.contains("does not say its unit"), "{said}");
}

proptest! {
    #[test]
    fn no_table_makes_a_reader_panic(text in "(a|b|,|;|\t|\"|[0-9.]|MiB/s| ms|%|\n){0,60}") {
        let map = columns(&["target=a", "iops=b"]);
        let _ = rows(&text, &map);
        let _ = rows(&format!("a,b,c\n{text}"), &columns(&["throughput[MB/s]=b", "elapsed=c", "block-size=a"]));
    }
}
