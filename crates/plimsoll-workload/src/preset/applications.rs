//! Presets of real applications. Their commands are those that their users type; what is to be known of a machine,
//! such as where its distribution puts servers, stands at the beginning of each.

use crate::{
    block_sizes::BlockSizes,
    settings::{EngineChoice, Layout, ReadWrite},
    sweep::Sweep,
    units::{ByteCount, Extent, Span},
    workload::Workload,
};

/// Databases refuse to be root; this user is on every machine and owns nothing.
const UNPRIVILEGED: &str = "nobody";

/// Where Debian keeps the programs of PostgreSQL, and how they find the server.
const PG: &str = r#"set -e
for directory in /usr/lib/postgresql/*/bin; do PATH=$directory:$PATH; done
export PGHOST="$RUN_DIR" PGUSER=plimsoll PGDATABASE=postgres
"#;

/// Makes a cluster and starts its server. It listens on a socket in a directory of its own, and nowhere else. What
/// making it has written is waited for before the first iteration, like all that was written.
const PG_SERVER: &str = r#"for program in initdb pg_ctl pg_restore pgbench; do
  command -v $program >/dev/null || { echo "$program is missing: install the package postgresql"; exit 127; }
done
serve() {
  initdb --pgdata="$1" --auth=trust --username=plimsoll --encoding=UTF8 --locale=C --no-sync >/dev/null
  cat >>"$1/postgresql.conf" <<END
listen_addresses = ''
unix_socket_directories = '$RUN_DIR'
shared_buffers = 64MB
max_wal_size = 1GB
checkpoint_timeout = 30s
dynamic_shared_memory_type = mmap
END
  pg_ctl --pgdata="$1" --log="$RUN_DIR/server.log" --wait --silent start || { grep FATAL "$RUN_DIR/server.log"; exit 1; }
}
"#;

/// A setup that was interrupted may have started none.
const PG_STOP: &str =
    r#"[ ! -e "$TARGET_DIR/pg/postmaster.pid" ] || pg_ctl --pgdata="$TARGET_DIR/pg" --mode=immediate --silent stop"#;

fn of_postgresql(name: &str, jobs: u32, setup: &str) -> Workload {
    Workload {
        name: Some(name.to_owned()),
        jobs: Some(Sweep::one(jobs)),
        user: Some(UNPRIVILEGED.to_owned()),
        setup: Some(format!("{PG}{PG_SERVER}{setup}")),
        cleanup: Some(format!("{PG}{PG_STOP}")),
        warmup: Some(1),
        ..Workload::default()
    }
}

/// A dump is restored: rows of 100 bytes, `scale` times 100,000 of them.
fn restore(scale: u32) -> Vec<Workload> {
    let setup = format!(
        r#"if [ ! -e "$DATASET/dump" ]; then
  serve "$DATASET/pg"
  createdb source
  pgbench --initialize --quiet --scale={scale} source
  pg_dump --format=custom --compress=1 --file="$DATASET/unfinished" source
  pg_ctl --pgdata="$DATASET/pg" --mode=immediate --silent stop
  rm -r "$DATASET/pg"
  mv "$DATASET/unfinished" "$DATASET/dump"
fi
serve "$TARGET_DIR/pg""#
    );
    let rows = scale * 100_000;
    vec![Workload {
        prepare: Some(format!("{PG}createdb restored")),
        command: Some(format!(r#"{PG}pg_restore --jobs="$THREADS" --dbname=restored "$DATASET/dump""#)),
        verify_command: Some(format!(
            r#"{PG}[ "$(psql -AtX --command='SELECT count(*) FROM pgbench_accounts' restored)" = {rows} ]"#
        )),
        conclude: Some(format!("{PG}dropdb restored\npsql -qX --command=CHECKPOINT")),
        ..of_postgresql("pg-restore", 2, &setup)
    }]
}

pub(super) fn pg_restore() -> Vec<Workload> {
    restore(10)
}

pub(super) fn pg_restore_small() -> Vec<Workload> {
    restore(2)
}

/// Eight clients for so many seconds: with small transactions that write, and with ones that only read, of which
/// nothing is in memory when they begin.
fn transactions(scale: u32, scale_read: u32, seconds: u32) -> Vec<Workload> {
    let figures = r#"sed -n -e 's|^tps = \([0-9.]*\) .*|transactions \1 /s|p' \
  -e 's|^latency average = \([0-9.]*\) ms.*|latency \1 ms|p' "$RUN_DIR/told" >"$FIGURES""#;
    let of = |name: &str, scale: u32, options: &str| Workload {
        command: Some(format!(
            "{PG}pgbench --client=8 --jobs=\"$THREADS\" --time={seconds} --random-seed=\"$SEED\"{options} >\"$RUN_DIR/told\"\n{figures}"
        )),
        verify_command: Some(r#"grep -q '^transactions [0-9]' "$FIGURES""#.to_owned()),
        ..of_postgresql(name, 2, &format!("serve \"$TARGET_DIR/pg\"\npgbench --initialize --quiet --scale={scale}"))
    };
    let cold = r#"pg_ctl --pgdata="$TARGET_DIR/pg" --log="$RUN_DIR/server.log" --wait --silent restart
find "$TARGET_DIR/pg/base" -type f -size +1M -exec dd if={} iflag=nocache count=0 status=none \;"#;
    vec![
        Workload { conclude: Some(format!("{PG}psql -qX --command=CHECKPOINT")), ..of("pgbench", scale, "") },
        Workload {
            prepare: Some(format!("{PG}{cold}")),
            warmup: None,
            ..of("pgbench-read", scale_read, " --select-only --no-vacuum")
        },
    ]
}

pub(super) fn pgbench() -> Vec<Workload> {
    transactions(20, 20, 15)
}

pub(super) fn pgbench_small() -> Vec<Workload> {
    without_warmup(transactions(2, 1, 2))
}

/// On a slow disk making databases takes most of a minute, and warming them up the rest.
fn without_warmup(workloads: Vec<Workload>) -> Vec<Workload> {
    workloads.into_iter().map(|workload| Workload { warmup: None, ..workload }).collect()
}

/// A script that ends with a sentence where a program is missing.
fn needing(programs: &str, package: &str) -> String {
    format!(
        "set -e\nPATH=$PATH:/usr/sbin:/sbin\nfor program in {programs}; do\n  command -v $program >/dev/null || {{ echo \
         \"$program is missing: install the package {package}\"; exit 127; }}\ndone\n"
    )
}

/// Starts a server of MariaDB on a directory that is made once; it listens on a socket and nowhere else.
const MARIADB_SERVER: &str = r#"ask="mariadb --no-defaults --socket=$RUN_DIR/mariadb --user=root"
serve() {
  cp -a "$DATASET/mariadb" "$1"
  mariadbd --no-defaults --datadir="$1" --skip-networking --socket="$RUN_DIR/mariadb" --pid-file="$RUN_DIR/pid" \
    --innodb-flush-log-at-trx-commit=1 --innodb-buffer-pool-size=64M >"$RUN_DIR/server.log" 2>&1 &
  until $ask --execute='CREATE DATABASE plimsoll' 2>/dev/null; do
    kill -0 $! 2>/dev/null || { tail -n 3 "$RUN_DIR/server.log"; exit 1; }
    sleep 0.1
  done
}
if [ ! -e "$DATASET/mariadb" ]; then
  mariadb-install-db --no-defaults --datadir="$DATASET/unfinished" --auth-root-authentication-method=normal \
    --skip-test-db >/dev/null
  mv "$DATASET/unfinished" "$DATASET/mariadb"
fi
"#;

const MARIADB_STOP: &str = r#"mariadb-admin --no-defaults --socket="$RUN_DIR/mariadb" --user=root shutdown"#;

/// Eight clients that write to four tables, for so many seconds, and a dump of so many such tables that is imported,
/// each time into a new database.
fn writes(rows: u32, seconds: u32, tables_dumped: u32) -> Vec<Workload> {
    let of_tables = |tables: u32| {
        format!(
            "sysbench oltp_write_only --mysql-socket=\"$RUN_DIR/mariadb\" --mysql-user=root --mysql-db=plimsoll \
             --tables={tables} --table-size={rows}"
        )
    };
    let (sysbench, sysbench_dumped) = (of_tables(4), of_tables(tables_dumped));
    let figures =
        r#"sed -n -e 's|^ *transactions: .*(\([0-9.]*\) per sec.*|transactions \1 /s|p' "$RUN_DIR/told" >"$FIGURES""#;
    let needs = [
        needing("mariadb-install-db mariadbd mariadb mariadb-dump", "mariadb-server"),
        needing("sysbench", "sysbench"),
    ]
    .concat();
    let of = |name: &str, jobs: u32, setup: &str| Workload {
        name: Some(name.to_owned()),
        user: Some(UNPRIVILEGED.to_owned()),
        jobs: Some(Sweep::one(jobs)),
        warmup: Some(1),
        setup: Some(format!("{needs}{MARIADB_SERVER}{setup}")),
        cleanup: Some(format!("{MARIADB_STOP} >/dev/null 2>&1 || true")),
        ..Workload::default()
    };
    let dump = format!(
        r#"if [ ! -e "$DATASET/dump.sql" ]; then
  serve "$DATASET/source"
  {sysbench_dumped} prepare >/dev/null
  mariadb-dump --no-defaults --socket="$RUN_DIR/mariadb" --user=root plimsoll >"$DATASET/unfinished"
  {MARIADB_STOP}
  wait
  rm -r "$DATASET/source"
  mv "$DATASET/unfinished" "$DATASET/dump.sql"
fi
serve "$TARGET_DIR/mariadb""#
    );
    let ask = r#"mariadb --no-defaults --socket="$RUN_DIR/mariadb" --user=root"#;
    vec![
        Workload {
            command: Some(format!(
                "set -e\n{sysbench} --threads=\"$THREADS\" --time={seconds} run >\"$RUN_DIR/told\"\n{figures}"
            )),
            verify_command: Some(r#"grep -q '^transactions [0-9]' "$FIGURES""#.to_owned()),
            ..of("mysql", 8, &format!("serve \"$TARGET_DIR/mariadb\"\n{sysbench} prepare >/dev/null"))
        },
        Workload {
            prepare: Some(format!("{ask} --execute='CREATE DATABASE imported'")),
            command: Some(format!("{ask} imported <\"$DATASET/dump.sql\"")),
            verify_command: Some(format!(
                r#"[ "$({ask} --skip-column-names --execute='SELECT count(*) FROM sbtest1' imported)" = {rows} ]"#
            )),
            conclude: Some(format!("{ask} --execute='DROP DATABASE imported'")),
            warmup: None,
            ..of("mysql-import", 1, &dump)
        },
    ]
}

pub(super) fn mysql() -> Vec<Workload> {
    writes(100_000, 15, 4)
}

pub(super) fn mysql_small() -> Vec<Workload> {
    without_warmup(writes(2_000, 2, 1))
}

/// Fifty clients that set values of 100 bytes, with a log that is synced each time, and once a second: then it takes
/// several seconds to meet a sync.
fn sets(always: u32, every_second: u32) -> Vec<Workload> {
    let of = |name: &str, sync: &str, requests: u32| Workload {
        name: Some(name.to_owned()),
        user: Some(UNPRIVILEGED.to_owned()),
        warmup: Some(1),
        setup: Some(format!(
            r#"{}redis-server --port 0 --unixsocket "$RUN_DIR/redis" --dir "$TARGET_DIR" --appendonly yes \
  --appendfsync {sync} --save '' >"$RUN_DIR/server.log" 2>&1 &
until redis-cli -s "$RUN_DIR/redis" ping 2>/dev/null | grep -q PONG; do
  kill -0 $! 2>/dev/null || {{ tail -n 1 "$RUN_DIR/server.log"; exit 1; }}
  sleep 0.1
done"#,
            needing("redis-server redis-cli redis-benchmark", "redis")
        )),
        command: Some(format!(
            "set -e\nredis-benchmark -s \"$RUN_DIR/redis\" -t set -n {requests} -c 50 -d 100 --csv >\"$RUN_DIR/told\"\nsed \
             -n 's|^\"SET\",\"\\([0-9.]*\\)\".*|requests \\1 /s|p' \"$RUN_DIR/told\" >\"$FIGURES\""
        )),
        verify_command: Some(r#"grep -q '^requests [0-9]' "$FIGURES""#.to_owned()),
        cleanup: Some("redis-cli -s \"$RUN_DIR/redis\" shutdown nosave >/dev/null 2>&1 || true".to_owned()),
        ..Workload::default()
    };
    vec![of("redis-aof", "always", always), of("redis-aof-everysec", "everysec", every_second)]
}

pub(super) fn redis_aof() -> Vec<Workload> {
    sets(20_000, 1_000_000)
}

pub(super) fn redis_aof_small() -> Vec<Workload> {
    sets(4_000, 250_000)
}

/// A program that plimsoll brings along.
fn of_program(name: &str, command: &str) -> Workload {
    Workload {
        name: Some(name.to_owned()),
        command: Some(format!(
            r#""$PLIMSOLL" program {command} --seed "$SEED" --iteration "$ITERATION" --figures "$FIGURES""#
        )),
        warmup: Some(1),
        ..Workload::default()
    }
}

/// A database of one file: rows that are committed one by one with either journal, many that are put in at once, and
/// the database of these written anew. What SQLite puts aside meanwhile is on the target too.
fn of_sqlite(rows: u32, seconds: u32) -> Vec<Workload> {
    let of = |name: &str, command: &str, check: &str| {
        let program = of_program(name, command);
        Workload {
            command: program.command.map(|command| format!("SQLITE_TMPDIR=$TARGET_DIR {command}")),
            verify_command: Some(format!(r#""$PLIMSOLL" program sqlite-check db{check}"#)),
            conclude: Some("rm -f db db-*".to_owned()),
            ..program
        }
    };
    let all = format!(" --rows {rows}");
    vec![
        of("sqlite-wal", &format!("sqlite-commit db --journal wal --time {seconds}s"), ""),
        of("sqlite-rollback", &format!("sqlite-commit db --journal delete --time {seconds}s"), ""),
        of("sqlite-load", &format!("sqlite-load db --rows {rows}"), &all),
        Workload {
            setup: Some(format!(
                r#"SQLITE_TMPDIR=$TARGET_DIR "$PLIMSOLL" program sqlite-load full --rows {rows} --seed "$SEED""#
            )),
            // Not by cp, which may have the file system share what it then has to take apart.
            prepare: Some("cat full >db".to_owned()),
            ..of("sqlite-vacuum", "sqlite-vacuum db", &all)
        },
    ]
}

pub(super) fn sqlite() -> Vec<Workload> {
    of_sqlite(500_000, 10)
}

pub(super) fn sqlite_small() -> Vec<Workload> {
    of_sqlite(100_000, 2)
}

/// The log of a message broker, synced by segments, and after every 16 batches.
fn messages(segment: &str, behind: &str, amount: &str, seconds: u32) -> Vec<Workload> {
    let log = format!("log . --segment {segment} --behind {behind} --amount {amount} --time {seconds}s");
    let of = |name: &str, command: &str| Workload {
        conclude: Some("rm -rf partition-*".to_owned()),
        ..of_program(name, command)
    };
    vec![of("log-append", &log), of("log-append-flush", &format!("{log} --flush-every 16"))]
}

pub(super) fn log_append() -> Vec<Workload> {
    messages("64MiB", "16MiB", "2GiB", 20)
}

pub(super) fn log_append_small() -> Vec<Workload> {
    messages("8MiB", "2MiB", "512MiB", 3)
}

/// The store of a metrics server.
fn samples(segment: &str, amount: &str, seconds: u32) -> Vec<Workload> {
    vec![Workload {
        conclude: Some("rm -rf wal blocks".to_owned()),
        ..of_program("tsdb", &format!("tsdb . --segment {segment} --amount {amount} --time {seconds}s"))
    }]
}

pub(super) fn tsdb() -> Vec<Workload> {
    samples("16MiB", "1GiB", 20)
}

pub(super) fn tsdb_small() -> Vec<Workload> {
    samples("4MiB", "256MiB", 4)
}

/// How to ask etcd, whose sockets are called like addresses, and have to be near as their paths may not be long.
///
/// Numbers have a point: mawk reads and writes them as the language of the user does.
const ETCD: &str = r#"set -e
export LC_ALL=C
cd "$RUN_DIR"
ask() { curl --silent --show-error --fail --unix-socket localhost:1 "$@"; }
"#;

/// A member of etcd by itself, on sockets. Eight clients put values of 256 bytes for so many seconds, and etcd tells
/// how long its log took to be durable.
fn puts(seconds: u32) -> Vec<Workload> {
    let setup = r#"etcd --data-dir "$TARGET_DIR/etcd" --listen-client-urls unix://localhost:1 \
  --advertise-client-urls unix://localhost:1 --listen-peer-urls unix://localhost:2 \
  --initial-advertise-peer-urls unix://localhost:2 --initial-cluster default=unix://localhost:2 >server.log 2>&1 &
until ask http://etcd/health 2>/dev/null | grep -q '"true"'; do
  kill -0 $! 2>/dev/null || { grep -E ' [CE] [|] |^panic' server.log | tail -n 1; exit 1; }
  sleep 0.1
done
{ printf '{"key":"a2V5","value":"'; head -c 256 /dev/urandom | base64 -w 0; printf '"}'; } >put"#;
    // The revision is the number of puts that are durable. Clients end because their time is over, and by nothing else.
    // Of the histogram, the first bound that 99 % are within.
    let command = r#"revision() {
  told=$(ask --data '{"key":"a2V5"}' http://etcd/v3/kv/range)
  expr "$told" : '.*"revision":"\([0-9]*\)"'
}
before=$(revision)
began=$(date +%s.%N)
clients=
for client in $(seq "$THREADS"); do
  timeout SECONDS curl --silent --show-error --fail --unix-socket localhost:1 --data @put --output /dev/null \
    'http://etcd/v3/kv/put?[1-10000000]' &
  clients="$clients $!"
done
for client in $clients; do
  code=0
  wait "$client" || code=$?
  [ "$code" = 124 ] || { echo "a client ended early, with $code"; exit 1; }
done
ended=$(date +%s.%N)
after=$(revision)
echo "$before $after $began $ended" | awk '{ printf "puts %.3f /s\n", ($2 - $1) / ($4 - $3) }' >"$FIGURES"
ask http://etcd/metrics >metrics
sed -n 's|^etcd_disk_wal_fsync_duration_seconds_bucket{le="\(.*\)"} \(.*\)$|\1 \2|p' metrics | awk '
    { bound[NR] = $1; count[NR] = $2 }
    END {
      for (i = 1; i < NR && count[i] < 0.99 * count[NR]; i++);
      if (i < NR) print "wal_fsync_p99_at_most", 1000 * bound[i], "ms"
    }' >>"$FIGURES""#;
    let needs = [("etcd", "etcd-server"), ("curl", "curl"), ("awk", "mawk")];
    let needs: String = needs.iter().map(|(programs, package)| needing(programs, package)).collect();
    vec![Workload {
        name: Some("etcd".to_owned()),
        user: Some(UNPRIVILEGED.to_owned()),
        jobs: Some(Sweep::one(8)),
        warmup: Some(1),
        setup: Some(format!("{needs}{ETCD}{setup}")),
        command: Some(format!("{ETCD}{}", command.replace("SECONDS", &seconds.to_string()))),
        verify_command: Some(r#"grep -q '^puts [0-9.]*[1-9]' "$FIGURES""#.to_owned()),
        ..Workload::default()
    }]
}

pub(super) fn etcd() -> Vec<Workload> {
    puts(10)
}

pub(super) fn etcd_small() -> Vec<Workload> {
    puts(4)
}

/// How Lucene is started, once the setup has found it.
const LUCENE: &str = r#"set -e
load() {
  java -Xmx512m -cp "$DATASET/library/*:$DATASET/lucene" LuceneLoad "$1" "$TARGET_DIR/index" "$FIGURES" "$SEED" "$2" "$3"
}
"#;

/// Documents of a hundred words are indexed and committed again and again; then words are looked up in an index of
/// which nothing is in the page cache when it begins.
fn of_lucene(documents: u32, commit_every: u32, queries: u32) -> Vec<Workload> {
    let setup = format!(
        r#"{}{LUCENE}library=$("$PLIMSOLL" presets path lucene)
if [ ! -e "$DATASET/lucene" ]; then
  ln -sfn "$library" "$DATASET/library"
  javac -cp "$library/*" -d "$DATASET/unfinished" "$library/LuceneLoad.java"
  mv "$DATASET/unfinished" "$DATASET/lucene"
fi
"#,
        needing("java javac", "default-jdk-headless")
    );
    let index = format!("load index {documents} {commit_every}");
    let of = |name: &str, setup: String, command: &str| Workload {
        name: Some(name.to_owned()),
        setup: Some(setup),
        command: Some(format!("{LUCENE}{command}")),
        warmup: Some(1),
        ..Workload::default()
    };
    let check = r#"java -cp "$DATASET/library/*" org.apache.lucene.index.CheckIndex "$TARGET_DIR/index" >/dev/null"#;
    vec![
        Workload {
            verify_command: Some(check.to_owned()),
            conclude: Some("rm -rf index".to_owned()),
            ..of("lucene-index", setup.clone(), &index)
        },
        Workload {
            prepare: Some(
                "sync -f index\nfor file in index/*; do dd if=\"$file\" iflag=nocache count=0 status=none; done"
                    .to_owned(),
            ),
            ..of("lucene-search", format!("{setup}{index}"), &format!("load search {documents} {queries}"))
        },
    ]
}

pub(super) fn lucene() -> Vec<Workload> {
    of_lucene(20_000, 2_000, 2_000)
}

pub(super) fn lucene_small() -> Vec<Workload> {
    of_lucene(4_000, 1_000, 200)
}

const WAL_ENTRIES: u64 = 10_029;

/// The log of an etcd member: entries of 2,300 bytes, each made durable before the next.
pub(super) fn wal_etcd() -> Vec<Workload> {
    vec![Workload {
        name: Some("wal-etcd".to_owned()),
        rw: Some(ReadWrite::Write),
        block_size: Some(Sweep::one(BlockSizes::One(2300))),
        // As many entries as the guide of etcd has written, each to where nothing was before: to overwrite is cheaper.
        size: Some(Extent::Bytes(ByteCount(WAL_ENTRIES * 2300))),
        operations: Some(WAL_ENTRIES),
        layout: Some(Layout::Allocated),
        buffered: Some(true),
        fdatasync: Some(1),
        engine: Some(EngineChoice::Psync),
        duration: Some(Span::from_seconds(30)),
        ..Workload::default()
    }]
}

pub(super) fn wal_etcd_small() -> Vec<Workload> {
    wal_etcd().into_iter().map(|workload| Workload { duration: Some(Span::from_seconds(10)), ..workload }).collect()
}
