//! What to buy as text: a row for each product, and sentences about the one that is chosen.

use plimsoll_catalog::{
    need::{Advice, Below, Candidate, Choice, Dimension, Lack, MachineRefusal},
    product::Provider,
};
use plimsoll_record::numbers;

use crate::{
    explanation::{show, standing::Unit},
    grid::{Column, Grid, Side},
    printable, wrapping,
};

const GIB: f64 = 1_073_741_824.0;

/// What to buy for a need, and why.
pub(super) fn text(advice: &Advice, width: usize) -> String {
    let mut out = String::new();
    if !advice.candidates.is_empty() {
        out += &wrapping::labelled("", &format!("What holds it in the long run{}:", sellers(advice)), width);
        out.push('\n');
        out += &table(advice, width);
        out.push('\n');
    }
    for sentence in sentences(advice) {
        out += &wrapping::labelled("", &printable::line(&sentence), width);
    }
    let notes = advice.candidates.first().filter(|_| advice.chosen.is_some()).map_or(&[][..], |first| &first.notes);
    for note in notes {
        out += &wrapping::labelled("note: ", &printable::line(note), width);
    }
    out
}

fn sellers(advice: &Advice) -> String {
    let names: Vec<&str> = advice.market.providers.iter().map(|provider| seller(*provider)).collect();
    if names.is_empty() { String::new() } else { format!(", of {}", names.join(" and ")) }
}

const fn seller(provider: Provider) -> &'static str {
    match provider {
        Provider::Azure => "Azure",
        Provider::Aws => "AWS",
        Provider::Gcp => "Google Cloud",
        Provider::Own => "own",
    }
}

fn table(advice: &Advice, width: usize) -> String {
    let text = |value: &dyn Fn(&Candidate) -> String| advice.candidates.iter().map(value).collect::<Vec<_>>();
    let mut columns = vec![
        Column::new("entry", Side::Left, 0, text(&|it| it.name.clone())),
        Column::new("size", Side::Right, 0, text(&size_of)),
        Column::new("provisioned", Side::Left, 0, text(&|it| bought(it).unwrap_or_default())),
        Column::new("IOPS", Side::Right, 0, text(&|it| numbers::or_absent(it.iops, whole))),
        Column::new("MB/s", Side::Right, 0, text(&|it| numbers::or_absent(it.bytes_per_second, megabytes))),
        Column::new("binds", Side::Left, 1, text(&binds)),
        Column::new("a month", Side::Right, 0, text(&price)),
    ];
    let provider = advice.candidates[0].provider;
    if advice.candidates.iter().any(|it| it.provider != provider) {
        let from = Column::new("from", Side::Left, 2, text(&|it| seller(it.provider).to_owned()));
        columns.insert(1, from);
    }
    Grid::new(columns).fit(width).text()
}

/// The size of a candidate; where nobody says which is the smallest that is sold, the least that it can be.
fn size_of(candidate: &Candidate) -> String {
    match candidate.size_gib {
        Some(gib) if candidate.least_size_is_known => size(gib),
        Some(gib) => format!("{} {}", numbers::AT_LEAST, size(gib)),
        None => "unknown".to_owned(),
    }
}

/// A size as it is bought, exact where it is whole.
fn size(gib: f64) -> String {
    match gib {
        gib if gib.fract() > 0.0 || gib % 1024.0 <= 0.0 => numbers::bytes((gib * GIB) as u64),
        gib => format!("{} GiB", whole(gib)),
    }
}

fn whole(value: f64) -> String {
    numbers::count(value as u64)
}

fn megabytes(bytes: f64) -> String {
    show::rate(Unit::BytesPerSecond, bytes).trim_end_matches(" MB/s").to_owned()
}

/// What is bought besides a size: `5,000 IOPS, 300 MiB/s`.
fn bought(candidate: &Candidate) -> Option<String> {
    let provisioned = &candidate.provisioned;
    let unit = if candidate.unit > 1e6 { "MiB/s" } else { "MB/s" };
    let iops = provisioned.iops.map(|iops| format!("{} IOPS", numbers::count(iops)));
    let bandwidth = provisioned.bandwidth.map(|bytes| format!("{} {unit}", whole(bytes.0 as f64 / candidate.unit)));
    let pool = provisioned.pool.map(|pool| format!("in a SAN of {}", numbers::bytes(pool.0)));
    let parts: Vec<String> = [iops, bandwidth, pool].into_iter().flatten().collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

fn binds(candidate: &Candidate) -> String {
    if let Some(refusal) = &candidate.refused_by_machine {
        return refusal.machine.clone();
    }
    let names: Vec<&str> = candidate.binds.iter().map(|dimension| name(*dimension)).collect();
    match (names.is_empty(), &candidate.below) {
        (false, _) => names.join(", "),
        (true, Below::WouldDo) => "price".to_owned(),
        (true, _) => "the least sold".to_owned(),
    }
}

const fn name(dimension: Dimension) -> &'static str {
    match dimension {
        Dimension::Iops => "IOPS",
        Dimension::Bandwidth => "MB/s",
        Dimension::Size => "size",
    }
}

fn price(candidate: &Candidate) -> String {
    match &candidate.cost {
        Some(cost) => format!("{} {}", numbers::decimal(cost.per_month, 2), cost.currency),
        None => "no price".to_owned(),
    }
}

/// An amount with its unit.
fn amount(dimension: Dimension, value: f64) -> String {
    match dimension {
        Dimension::Iops => format!("{} IOPS", whole(value)),
        Dimension::Bandwidth => format!("{} MB/s", megabytes(value)),
        Dimension::Size => size(value),
    }
}

/// The same beside one of the same unit: IOPS go without saying.
fn bare(dimension: Dimension, value: f64) -> String {
    match dimension {
        Dimension::Iops => numbers::count(value.ceil() as u64),
        Dimension::Bandwidth => format!("{} MB/s", megabytes(value)),
        Dimension::Size => size(value),
    }
}

fn sentences(advice: &Advice) -> Vec<String> {
    let mut sentences = Vec::new();
    let first = advice.candidates.first();
    match first.zip(advice.chosen) {
        Some((first, choice)) => {
            sentences.push(chosen(first));
            sentences.push(why(advice, first, choice));
        }
        None => sentences.push(nothing(advice)),
    }
    let both = |rates: plimsoll_catalog::need::Rates| rates.read > 0.0 && rates.write > 0.0;
    if both(advice.demand.iops) || both(advice.demand.bytes_per_second) {
        sentences
            .push("Reads and writes that share a limit are added: both are taken to be needed at once.".to_owned());
    }
    if advice.chosen.is_some() {
        sentences.extend(not_carried(advice));
    }
    if advice.leaves_out_network {
        sentences.push(
            "Shares and SANs are left out: a machine's network binds them, and no catalog has its limits.".to_owned(),
        );
    }
    if !advice.other_currencies.is_empty() {
        let others = advice.other_currencies.join(" and ");
        let currency = advice.currency.as_deref().unwrap_or_default();
        sentences.push(format!("Prices in {others} are not compared with those in {currency}."));
    }
    sentences.extend(dates(advice));
    let unpriced = advice.candidates.iter().filter_map(|it| Some((&it.name, it.cost_unknown.as_ref()?)));
    sentences.extend(unpriced.map(|(name, why)| format!("No price of {name}: {why}.")));
    if advice.chosen.is_some() && !advice.too_small.is_empty() {
        sentences.push(format!("Too little: {}.", too_small(advice)));
    }
    sentences
}

/// Of when prices are, where there are several.
fn dates(advice: &Advice) -> Option<String> {
    let mut dates: Vec<(&str, Vec<&str>)> = Vec::new();
    for (cost, name) in advice.candidates.iter().filter_map(|it| Some((it.cost.as_ref()?, it.name.as_str()))) {
        match dates.iter_mut().find(|(date, _)| *date == cost.date) {
            Some((_, names)) => names.push(name),
            None => dates.push((&cost.date, vec![name])),
        }
    }
    match dates.as_slice() {
        [(date, names)] if names.len() > 1 => Some(format!("All prices are of {date}.")),
        [] | [_] => None,
        several => {
            let each: Vec<String> =
                several.iter().map(|(date, names)| format!("{} of {date}", names.join(", "))).collect();
            Some(format!("Prices are of different dates: {}.", each.join("; ")))
        }
    }
}

/// The one that is chosen, and why not the next smaller one.
fn chosen(first: &Candidate) -> String {
    let size_text = first.size_gib.map(size);
    let title = match (bought(first), size_text) {
        (Some(bought), Some(size)) if first.provisioned.pool.is_some() => format!("{} of {size} {bought}", first.name),
        (Some(bought), Some(size)) => format!("{} of {size} with {bought}", first.name),
        (None, Some(size)) if first.name == first.product => format!("{} of {size}", first.name),
        (None, Some(size)) => format!("{} ({size})", first.name),
        (_, None) => first.name.clone(),
    };
    let lasting = [(Dimension::Iops, first.iops), (Dimension::Bandwidth, first.bytes_per_second)];
    let lasting: Vec<String> =
        lasting.into_iter().filter_map(|(dimension, value)| Some(amount(dimension, value?))).collect();
    let lasting = if lasting.is_empty() { "nothing is known of its rates".to_owned() } else { lasting.join(", ") };
    let below = match &first.below {
        Below::Lacks { name: Some(name), lack } => format!("the next smaller, {name}, {}", lacks(lack)),
        Below::Lacks { name: None, lack } if lack.dimension == Dimension::Size => {
            "its size is what is needed".to_owned()
        }
        Below::Lacks { name: None, lack } => format!("with 1 GiB less it {}", lacks(lack)),
        Below::Refused(why) => format!("not with less: {why}"),
        Below::Nothing if first.provider == Provider::Own => "by limits of one's own".to_owned(),
        Below::Nothing if first.least_size_is_known => "nothing smaller is sold".to_owned(),
        Below::Nothing => "the smallest size that is sold is not documented, and may be larger".to_owned(),
        Below::WouldDo => "smaller ones would do, and cost no less or have no price".to_owned(),
    };
    format!("{title}: {lasting}; {below}.")
}

fn lacks(lack: &Lack) -> String {
    let verb = if lack.dimension == Dimension::Size { "holds" } else { "has" };
    match lack.has {
        Some(has) => {
            let (has, needs) = (amount(lack.dimension, has), bare(lack.dimension, lack.needs));
            format!("{verb} {has}, which is less than {needs}")
        }
        None => format!("has no {} that a document tells", name(lack.dimension)),
    }
}

fn why(advice: &Advice, first: &Candidate, choice: Choice) -> String {
    let advised = "[[price]] rows in limits.toml tell which is the cheapest";
    match (choice, &first.cost) {
        (Choice::Cheapest, Some(cost)) => {
            let currency = advice.currency.as_deref();
            let is_compared = |it: &&Candidate| {
                it.refused_by_machine.is_none() && it.cost.as_ref().map(|cost| cost.currency.as_str()) == currency
            };
            let of = match advice.candidates.iter().filter(is_compared).count() {
                1 => "the only one with a price".to_owned(),
                count => format!("the cheapest of {count} with a price"),
            };
            let month = numbers::decimal(cost.per_month, 2);
            let (currency, row, date) = (&cost.currency, &cost.row, &cost.date);
            format!("It is {of}: {month} {currency} a month, by the price of {row} of {date}.")
        }
        (Choice::SmallestOfNamed, _) => {
            format!(
                "It is the smallest of {}, which was named: without prices nothing else decides, and {advised}.",
                first.product
            )
        }
        _ => {
            let bought_gib = |it: &Candidate| it.provisioned.pool.map(|pool| pool.0 as f64 / GIB).or(it.size_gib);
            let is_as_small = |it: &&Candidate| {
                it.refused_by_machine.is_none()
                    && it.least_size_is_known
                    && bought_gib(it).is_some_and(|gib| bought_gib(first) == Some(gib))
            };
            let is_refused = advice.candidates.iter().any(|it| {
                it.refused_by_machine.is_some()
                    && bought_gib(it).zip(bought_gib(first)).is_some_and(|(it, first)| it < first)
            });
            let holds = if is_refused { "that the machine carries holds it" } else { "holds it" };
            let what = match advice.candidates.iter().skip(1).filter(is_as_small).count() {
                0 if is_refused => "It is the smallest that the machine carries".to_owned(),
                0 => "It is the smallest".to_owned(),
                1 => format!("Nothing smaller {holds}, and another one has the same size"),
                others => format!("Nothing smaller {holds}, and {others} others have the same size"),
            };
            format!("{what}: without prices nothing else decides, and {advised}.")
        }
    }
}

/// Why nothing is chosen.
fn nothing(advice: &Advice) -> String {
    let Some(first) = advice.candidates.first() else {
        return format!("Nothing that the catalog knows holds it in the long run: {}.", too_small(advice));
    };
    let refusal = advice.candidates.iter().filter_map(|it| it.refused_by_machine.as_ref());
    let with_figures = refusal.clone().find(|refusal| refusal.lack.is_some());
    match with_figures.or_else(|| refusal.clone().next()) {
        Some(MachineRefusal { machine, lack: Some(lack), .. }) => {
            let has = lack.has.map_or_else(|| "too little".to_owned(), |has| amount(lack.dimension, has));
            let needs = bare(lack.dimension, lack.needs);
            let larger = advice.larger_machine.as_ref().map_or_else(String::new, |larger| {
                format!("; {} is the first of its series that lets enough through", larger.name)
            });
            format!("{machine} lets {has} through, so no disk on it holds {needs}{larger}.")
        }
        Some(MachineRefusal { machine, why, .. }) => {
            format!("{machine} does not take {}: {}.", first.name, why.as_deref().unwrap_or_default())
        }
        None => "Nothing is chosen.".to_owned(),
    }
}

/// What the machine does not carry.
fn not_carried(advice: &Advice) -> Option<String> {
    let refused = advice.candidates.iter().filter_map(|it| Some((it.name.as_str(), it.refused_by_machine.as_ref()?)));
    let (names, refusals): (Vec<&str>, Vec<&MachineRefusal>) = refused.unzip();
    let machine = &refusals.first()?.machine;
    Some(format!("{machine} does not carry {}.", names.join(", ")))
}

/// How many products are told of that do not hold it.
const TOO_SMALL_MAX: usize = 4;

/// What the products lack that come closest, and how many others there are.
fn too_small(advice: &Advice) -> String {
    let share = |lack: &Lack| lack.has.map_or(0.0, |has| has / lack.needs);
    let mut closest: Vec<_> = advice.too_small.iter().collect();
    closest.sort_by(|one, other| share(&other.lack).total_cmp(&share(&one.lack)));
    let of = |lack: &Lack| match lack.has {
        Some(has) => format!("at most {}", amount(lack.dimension, has)),
        None => format!("no {} known", name(lack.dimension)),
    };
    let told = closest.iter().take(TOO_SMALL_MAX).map(|small| format!("{} ({})", small.product, of(&small.lack)));
    let told: Vec<String> = told.collect();
    match closest.len().saturating_sub(TOO_SMALL_MAX) {
        _ if told.is_empty() => "there is no such product".to_owned(),
        0 => told.join(", "),
        more => format!("{}, and {more} more", told.join(", ")),
    }
}
