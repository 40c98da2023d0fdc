//! Questions about many runs at once, answered without reading their records.

use std::collections::BTreeMap;

use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension, Row, ToSql, types::Type};
use uuid::Uuid;

use super::{History, HistoryError, nanoseconds};
use crate::{
    reference::{id_digits, short_id, stored_id},
    summary::{CellSummary, Filter, LatestCell, Page, RunSummary},
};

/// Shorter ids look alike: the first eight digits change about once a minute.
const SHORT_ID_DIGITS_MIN: usize = 8;

impl History {
    /// The runs that pass a filter, the latest first.
    pub fn list(&self, filter: &Filter) -> Result<Vec<RunSummary>, HistoryError> {
        self.list_inside(filter).map_err(self.failure())
    }

    fn list_inside(&self, filter: &Filter) -> rusqlite::Result<Vec<RunSummary>> {
        let (conditions, values) = conditions(filter);
        let sql = format!(
            "SELECT id, started_ns, elapsed_ns, outcome, name, targets, version FROM runs {conditions}
             ORDER BY started_ns DESC, id DESC LIMIT ? OFFSET ?"
        );
        // One transaction: a run that is removed meanwhile is listed with its cells or not at all.
        let transaction = self.connection.unchecked_transaction()?;
        let mut statement = transaction.prepare(&sql)?;
        let values = values.iter().map(Box::as_ref);
        let mut runs = statement
            .query_map(rusqlite::params_from_iter(values), summary)?
            .collect::<rusqlite::Result<Vec<RunSummary>>>()?;
        for run in &mut runs {
            run.cells = cells(&transaction, run.id)?;
            run.tags = tags(&transaction, run.id)?;
        }
        Ok(runs)
    }

    /// The same, and how many there are beside them.
    pub fn page(&self, filter: &Filter) -> Result<Page, HistoryError> {
        self.page_inside(filter).map_err(self.failure())
    }

    fn page_inside(&self, filter: &Filter) -> rusqlite::Result<Page> {
        let everything = Filter { offset: 0, limit: None, ..filter.clone() };
        let (conditions, values) = conditions(&everything);
        // Ids alone are read of what is not shown: the pages of records stay where they are.
        let sql = format!("SELECT id FROM runs {conditions} ORDER BY started_ns DESC, id DESC LIMIT ? OFFSET ?");
        let transaction = self.connection.unchecked_transaction()?;
        let mut statement = transaction.prepare(&sql)?;
        let rows = statement.query_map(rusqlite::params_from_iter(values.iter().map(Box::as_ref)), |row| row.get(0))?;
        let ids = rows.collect::<rusqlite::Result<Vec<String>>>()?;
        let shown = ids.iter().skip(filter.offset).take(filter.limit.unwrap_or(usize::MAX));
        let runs = shown.map(|id| one(&transaction, id)).collect::<rusqlite::Result<_>>()?;
        Ok(Page { total: ids.len(), runs })
    }

    /// One run, in short.
    pub fn summary(&self, run: Uuid) -> Result<RunSummary, HistoryError> {
        let transaction = self.connection.unchecked_transaction().map_err(self.failure())?;
        let found = one(&transaction, &stored_id(run)).optional().map_err(self.failure())?;
        found.ok_or_else(|| HistoryError::NotFound(run.to_string()))
    }

    /// For each target and workload the latest run that has numbers of it; of so many, those whose runs began last.
    /// What was typed without its directory is another target wherever the targets of its run are elsewhere.
    pub fn latest_cells(&self, limit: usize) -> Result<Vec<LatestCell>, HistoryError> {
        let collect = || {
            // Of the columns that are not grouped by, SQLite takes those of the row with the maximum.
            let mut statement = self.connection.prepare(
                "SELECT target, workload, id, elapsed_ns, max(started_ns) FROM cells JOIN runs ON id = run
                 WHERE verdict IS NOT NULL GROUP BY target, workload, CASE WHEN target LIKE '/%' THEN '' ELSE paths END
                 ORDER BY max(started_ns) DESC, id, position LIMIT ?1",
            )?;
            let rows = statement.query_map([limit], |row| {
                let elapsed_ns = row.get::<_, i64>(3)?.try_into().unwrap_or(0);
                Ok(LatestCell { target: row.get(0)?, workload: row.get(1)?, run: id(row, 2)?, elapsed_ns })
            })?;
            rows.collect::<rusqlite::Result<Vec<LatestCell>>>()
        };
        collect().map_err(self.failure())
    }

    /// How many runs there are.
    pub fn count(&self) -> Result<usize, HistoryError> {
        self.connection.query_row("SELECT count(*) FROM runs", [], |row| row.get(0)).map_err(self.failure())
    }

    /// A number that becomes another one whenever somebody else has changed the history since it was opened here.
    pub fn data_version(&self) -> Result<i64, HistoryError> {
        self.connection.pragma_query_value(None, "data_version", |row| row.get(0)).map_err(self.failure())
    }

    /// The run that began last.
    pub fn latest(&self) -> Result<Option<Uuid>, HistoryError> {
        let filter = Filter { limit: Some(1), ..Filter::default() };
        Ok(self.list(&filter)?.first().map(|run| run.id))
    }

    /// The run with exactly this name that began last.
    pub(super) fn latest_named(&self, name: &str) -> Result<Option<Uuid>, HistoryError> {
        let sql = "SELECT id FROM runs WHERE name = ?1 ORDER BY started_ns DESC, id DESC LIMIT 1";
        self.connection.query_row(sql, [name], |row| id(row, 0)).optional().map_err(self.failure())
    }

    /// The ids that begin with these digits.
    pub(super) fn beginning_with(&self, digits: &str) -> Result<Vec<Uuid>, HistoryError> {
        let collect = || {
            // "g" follows every hexadecimal digit.
            let mut statement =
                self.connection.prepare("SELECT id FROM runs WHERE id >= ?1 AND id < ?1 || 'g' ORDER BY id")?;
            let rows = statement.query_map([digits], |row| id(row, 0))?;
            rows.collect::<rusqlite::Result<Vec<Uuid>>>()
        };
        collect().map_err(self.failure())
    }

    /// Each id cut to the same length, long enough for [`History::find`] to find that run and no other.
    pub fn short_ids(&self, ids: &[Uuid]) -> Result<Vec<String>, HistoryError> {
        let mut digits = SHORT_ID_DIGITS_MIN;
        for id in ids {
            digits = digits.max(self.unique_digits(*id).map_err(self.failure())?);
        }
        Ok(ids.iter().map(|id| short_id(*id, digits)).collect())
    }

    /// How many digits tell an id from all others: one more than it shares with either of its neighbours.
    fn unique_digits(&self, id: Uuid) -> rusqlite::Result<usize> {
        let own = stored_id(id);
        let mut statement = self.connection.prepare_cached(
            "SELECT (SELECT max(id) FROM runs WHERE id < ?1), (SELECT min(id) FROM runs WHERE id > ?1)",
        )?;
        let neighbours: [Option<String>; 2] = statement.query_row([&own], |row| Ok([row.get(0)?, row.get(1)?]))?;
        let shared = |other: &String| own.bytes().zip(other.bytes()).take_while(|(a, b)| a == b).count();
        Ok(neighbours.iter().flatten().map(|other| shared(other) + 1).max().unwrap_or(0))
    }
}

/// A run with its cells and tags.
fn one(connection: &Connection, id: &str) -> rusqlite::Result<RunSummary> {
    let sql = "SELECT id, started_ns, elapsed_ns, outcome, name, targets, version FROM runs WHERE id = ?1";
    let run = connection.prepare_cached(sql)?.query_row([id], summary)?;
    Ok(RunSummary { cells: cells(connection, run.id)?, tags: tags(connection, run.id)?, ..run })
}

/// Whether a text occurs in what names a run. SQLite knows capitals of ASCII only.
const TEXT_OCCURS: &str = "EXISTS (SELECT 1 FROM (SELECT ? AS text, ? AS digits)
    WHERE (id >= digits AND id < digits || 'g') OR instr(lower(name), text) > 0
        OR EXISTS (SELECT 1 FROM json_each(targets) WHERE instr(lower(value), text) > 0)
        OR EXISTS (SELECT 1 FROM json_each(paths) WHERE instr(lower(value), text) > 0)
        OR EXISTS (SELECT 1 FROM cells WHERE run = id AND instr(lower(workload), text) > 0))";

/// Whether it occurs in what a target is called, or in where it is.
const TARGET_OCCURS: &str = "EXISTS (SELECT 1 FROM (SELECT ? AS text)
    WHERE EXISTS (SELECT 1 FROM json_each(targets) WHERE instr(value, text) > 0)
        OR EXISTS (SELECT 1 FROM json_each(paths) WHERE instr(value, text) > 0))";

/// The conditions of a filter and the values they refer to, limit and offset last.
fn conditions(filter: &Filter) -> (String, Vec<Box<dyn ToSql>>) {
    let mut conditions: Vec<&str> = Vec::new();
    let mut values: Vec<Box<dyn ToSql>> = Vec::new();
    if let Some(target) = &filter.target {
        conditions.push(TARGET_OCCURS);
        values.push(Box::new(target.clone()));
    }
    for (key, value) in &filter.tags {
        conditions.push("EXISTS (SELECT 1 FROM tags WHERE run = id AND key = ? AND value = ?)");
        values.push(Box::new(key.clone()));
        values.push(Box::new(value.clone()));
    }
    if let Some(since) = filter.since {
        conditions.push("started_ns >= ?");
        values.push(Box::new(nanoseconds(since)));
    }
    if let Some(text) = &filter.text {
        conditions.push(TEXT_OCCURS);
        // What is no beginning of an id is the beginning of none: 'g' follows every hexadecimal digit.
        values.push(Box::new(text.to_ascii_lowercase()));
        values.push(Box::new(id_digits(text).unwrap_or_else(|| "g".to_owned())));
    }
    // A negative limit is none.
    values.push(Box::new(filter.limit.map_or(-1, |limit| i64::try_from(limit).unwrap_or(i64::MAX))));
    values.push(Box::new(i64::try_from(filter.offset).unwrap_or(i64::MAX)));
    let joined = conditions.join(" AND ");
    (if joined.is_empty() { joined } else { format!("WHERE {joined}") }, values)
}

fn summary(row: &Row<'_>) -> rusqlite::Result<RunSummary> {
    let targets: String = row.get(5)?;
    Ok(RunSummary {
        id: id(row, 0)?,
        started: Timestamp::from_nanosecond(row.get::<_, i64>(1)?.into()).map_err(|error| wrong(1, error))?,
        elapsed_ns: row.get::<_, i64>(2)?.try_into().unwrap_or(0),
        outcome: row.get(3)?,
        name: row.get(4)?,
        tags: BTreeMap::new(),
        targets: serde_json::from_str(&targets).map_err(|error| wrong(5, error))?,
        version: row.get(6)?,
        cells: Vec::new(),
    })
}

fn cells(connection: &Connection, run: Uuid) -> rusqlite::Result<Vec<CellSummary>> {
    let mut statement = connection.prepare_cached(
        "SELECT target, workload, read_iops, write_iops, bytes_per_second, latency_mean_ns, latency_p99_ns, verdict,
         all_iops FROM cells WHERE run = ?1 ORDER BY position",
    )?;
    let rows = statement.query_map([stored_id(run)], |row| {
        Ok(CellSummary {
            target: row.get(0)?,
            workload: row.get(1)?,
            read_iops: row.get(2)?,
            write_iops: row.get(3)?,
            bytes_per_second: row.get(4)?,
            latency_mean_ns: row.get(5)?,
            latency_p99_ns: row.get(6)?,
            verdict: row.get(7)?,
            all_iops: row.get(8)?,
        })
    })?;
    rows.collect()
}

fn tags(connection: &Connection, run: Uuid) -> rusqlite::Result<BTreeMap<String, String>> {
    let mut statement = connection.prepare_cached("SELECT key, value FROM tags WHERE run = ?1")?;
    let rows = statement.query_map([stored_id(run)], |row| Ok((row.get(0)?, row.get(1)?)))?;
    rows.collect()
}

/// Reads a column that holds an id.
pub(super) fn id(row: &Row<'_>, column: usize) -> rusqlite::Result<Uuid> {
    row.get::<_, String>(column)?.parse().map_err(|error| wrong(column, error))
}

fn wrong(column: usize, error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(column, Type::Text, error.into())
}
