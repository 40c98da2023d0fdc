//! Judged claims as a table.

use super::{JudgedClaims, Verdict};
use crate::{
    grid::{Column, Grid, Side},
    table::WIDTH_MIN,
    wrapping,
};

/// The claims take at most this part of a line.
const CLAIM_PART: usize = 4;
/// They are not broken into lines shorter than this.
const CLAIM_WIDTH_MIN: usize = 16;

/// The claims with their verdicts and recomputations, in lines of at most this width, and how many there are of each.
pub fn text(judged: &JudgedClaims, width: usize) -> String {
    let width = width.max(WIDTH_MIN);
    let claims = &judged.claims;
    let mut columns = Vec::new();
    if claims.iter().any(|claim| claim.id.is_some()) {
        let ids = claims.iter().map(|claim| claim.id.clone().unwrap_or_default()).collect();
        columns.push(Column::new("id", Side::Left, 1, ids));
    }
    let mut wording = Column::new("claim", Side::Left, 0, claims.iter().map(|claim| claim.claim.clone()).collect());
    let claim_width = (width / CLAIM_PART).max(CLAIM_WIDTH_MIN);
    for value in &mut wording.values {
        *value = wrapping::name_lines(value, claim_width).join("\n");
    }
    columns.push(wording);
    let verdicts = claims.iter().map(|claim| claim.verdict.to_string()).collect();
    columns.push(Column::new("verdict", Side::Left, 0, verdicts));
    let recomputations = claims.iter().map(|claim| claim.recomputation.clone()).collect();
    columns.push(Column::new("recomputation", Side::Left, 0, recomputations));
    let last = columns.len() - 1;
    let mut out = Grid::breaking(last, columns).fit(width).text();
    out.push('\n');
    out += &wrapping::labelled("", &counts(judged), width);
    out
}

/// `65 claims: 20 follow, 9 rounding, 16 do not follow, 20 no data`.
fn counts(judged: &JudgedClaims) -> String {
    let count = |verdict: Verdict| judged.claims.iter().filter(|claim| claim.verdict == verdict).count();
    let parts: Vec<String> = Verdict::ALL
        .into_iter()
        .filter(|verdict| count(*verdict) > 0)
        .map(|verdict| match (verdict, count(verdict)) {
            (Verdict::Follows, several @ 2..) => format!("{several} follow"),
            (Verdict::DoesNotFollow, several @ 2..) => format!("{several} do not follow"),
            (_, several) => format!("{several} {verdict}"),
        })
        .collect();
    let all = judged.claims.len();
    let noun = if all == 1 { "claim" } else { "claims" };
    format!("{all} {noun}: {}", parts.join(", "))
}
