//! Renders the entities that the graph shows in a room or a hall.

use crate::model::{Entity, Hall, Layout, Slot, abridge_to_weight, token_weight};
use crate::render::shortened_names::{abridge_quoted, common_prefix, distinct_labels};
use crate::render::text::{
    group_thousands, in_quotes, name_in_sentence, title_in_heading, title_in_row,
};
use crate::render::{ListedContent, mark_imitations};

/// Token weight for all names of a page together, and minimum and maximum for each name: a
/// page of thirty stays below five hundred tokens. A name beside a genus or a status has a
/// lower minimum.
const NAMES_WEIGHT: usize = 640;
const MIN_NAME_WEIGHT: usize = 20;
const MIN_NAME_BESIDE_NOTES: usize = 12;
const MAX_NAME_WEIGHT: usize = 160;

/// The entities that the graph shows in a room or a hall.
#[derive(Clone, Debug, PartialEq)]
pub struct EntityListing<'a> {
    /// The title: `Claim · contested`.
    pub title: String,
    /// The number of entities in all.
    pub total: usize,
    /// The entities on this page, in the order of their numbers.
    pub entities: Vec<&'a Entity>,
    /// The facts of the entities, in their order; those that are missing are left out.
    pub facts: Vec<ListedContent>,
    /// An additional sentence about the listing.
    pub note: Option<String>,
}

/// Renders the label of an action that leads to a hall, with the number of its entities.
pub fn sub_hall_label(to: &str, total: usize) -> String {
    format!("{to} ({})", group_thousands(total))
}

/// Renders a hall: its title and its entities.
pub(crate) fn hall_listing(listing: &EntityListing<'_>) -> String {
    let about = match listing.total {
        0 => "This hall is empty now: its entities were deleted or belong elsewhere.".to_owned(),
        total => format!("Made from the graph as it is now: {}.", entity_count_text(total)),
    };
    format!("── {} ──\n{about}\n{}", title_in_heading(&listing.title), entity_lines(listing))
}

/// Renders the entities that a room shows.
pub fn room_listing(listing: &EntityListing<'_>) -> String {
    let end = if listing.entities.is_empty() { '.' } else { ':' };
    let about = match listing.total {
        0 => "no entities yet.".to_owned(),
        total => format!("{}{end}", entity_count_text(total)),
    };
    let note = listing.note.as_ref().map(|it| format!("{it}\n")).unwrap_or_default();
    let title = match listing.title.as_str() {
        Hall::TITLE_OF_ALL => listing.title.clone(),
        title => name_in_sentence(title),
    };
    let title = mark_imitations(&format!("{title}:"));
    format!("\n{title} {about}\n{note}{}", entity_lines(listing))
}

/// Renders entities with genus and status only where these differ: in a hall of contested
/// claims neither does.
fn entity_lines(EntityListing { entities: listed, facts, .. }: &EntityListing<'_>) -> String {
    let differ =
        |of: fn(&Entity) -> Option<&str>| listed.windows(2).any(|pair| of(pair[0]) != of(pair[1]));
    let (genera, statuses) = (differ(|it| Some(&it.genus)), differ(|it| it.status.as_deref()));
    let room = (NAMES_WEIGHT / listed.len().max(1)).clamp(MIN_NAME_WEIGHT, MAX_NAME_WEIGHT);
    let names: Vec<_> = listed.iter().map(|it| title_in_row(&it.name)).collect();
    let is_quoted = names.iter().any(|it| it.starts_with('"'));
    let shared = if is_quoted { "" } else { common_prefix(&names) };
    let notes = listed.iter().map(|it| {
        let genus = genera.then_some(it.genus.as_str());
        let notes = genus.into_iter().chain(it.status.as_deref().filter(|_| statuses));
        let notes =
            notes.map(|it| format!(" · {}", abridge_quoted(&title_in_row(it), MIN_NAME_WEIGHT)));
        notes.collect::<Vec<_>>().concat()
    });
    let notes: Vec<_> = notes.collect();
    let left = |notes: &String| room.saturating_sub(token_weight(notes)).max(MIN_NAME_BESIDE_NOTES);
    let names: Vec<_> = names.iter().map(String::as_str).zip(notes.iter().map(left)).collect();
    let labels = distinct_labels(&names, shared.len());
    let numbers = (0..).map(|place| Layout::Wide.number_of_slot(Slot::Result(place)));
    let lines = labels.iter().zip(&notes).zip(numbers);
    let facts = facts.iter().chain(std::iter::repeat(&ListedContent::LeftOut));
    let lines = lines.zip(facts).map(|(((it, notes), number), facts)| {
        format!("  {number}. {it}{notes}{}\n{}", facts.note(), facts.lines())
    });
    let lines = lines.collect::<Vec<_>>().concat();
    if shared.is_empty() {
        lines
    } else {
        format!(
            "Each begins with {}.\n{lines}",
            in_quotes(&abridge_to_weight(shared.trim_end(), MAX_NAME_WEIGHT))
        )
    }
}

fn entity_count_text(total: usize) -> String {
    format!("{} {}", group_thousands(total), if total == 1 { "entity" } else { "entities" })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::token_estimate;

    /// The part of five hundred tokens that a hall's title and menu leave.
    const MAX_LIST_TOKENS: usize = 400;

    /// Thirty entities.
    fn thirty_entities(
        name: fn(usize) -> String,
        status: fn(usize) -> Option<&'static str>,
    ) -> Vec<Entity> {
        let entity = |it| Entity {
            is_defined: true,
            status: status(it).map(str::to_owned),
            ..Entity::new_loose_end(&name(it))
        };
        (0..Layout::MAX_RESULTS).map(entity).collect()
    }

    #[test]
    fn a_common_name_prefix_is_shown_once() {
        let seen = |names: &[&str]| {
            let entities: Vec<_> = names.iter().map(|it| Entity::new_loose_end(it)).collect();
            let listed = entities.iter().collect();
            entity_lines(&EntityListing {
                title: String::new(),
                total: names.len(),
                entities: listed,
                facts: Vec::new(),
                note: None,
            })
        };
        let symbols = ["gneiss::fold::open", "gneiss::fold::shut", "gneiss::form"];
        let few = ["Ice moves", "Ice melts"];
        insta::assert_snapshot!(seen(&symbols) + &seen(&few), @r#"
        Each begins with "gneiss::".
          31. …fold::open
          32. …fold::shut
          33. …form
          31. Ice moves
          32. Ice melts
        "#);
    }

    #[test]
    fn shortened_names_stay_distinguishable() {
        let about = |it: usize| {
            format!("关于数据库迁移期间连接池耗尽原因的调查报告第{it}号以及后续改进措施")
        };
        let english = |it: usize| {
            let (who, of) = (["The", "An"][it / 2 % 2], ["1990, and of", "1890, in"][it % 2]);
            format!("{who} effect of erosion on growth in the year {of} volume {}", it / 4)
        };
        let page = |names: &dyn Fn(usize) -> String, few: usize| {
            let entities: Vec<_> = (0..30).map(|it| Entity::new_loose_end(&names(it))).collect();
            let listed: Vec<_> = entities.iter().collect();
            let all = entity_lines(&EntityListing {
                title: String::new(),
                total: 30,
                entities: listed,
                facts: Vec::new(),
                note: None,
            });
            all.lines().take(few).collect::<Vec<_>>().join("\n")
        };
        insta::assert_snapshot!([page(&about, 5), page(&english, 4)].join("\n"), @r#"
        Each begins with "关于数据库迁移期间连接池耗尽原因的调查报告第".
          31. …0号…施
          32. …1号…施
          33. …2号…施
          34. …3号…施
          31. T…1990,…0
          32. T…1890,…0
          33. A…1990,…0
          34. A…1890,…0
        "#);
    }

    #[test]
    fn thirty_names_of_any_kind_fit_into_five_hundred_tokens() {
        let kinds: [fn(usize) -> String; 9] = [
            |it| format!("{} is older than the map of it, no. {it}", ["Ice", "Stasis"][it % 2]),
            |it| format!("{}, Râmnicu Vâlcea {it}", ["Dąbrowa", "Żywiec", "Plzeň"][it % 3]),
            |it| format!("{:08x}-4f1d-{:012x}", it * 0x0b97_3145, it * 0x5eed_1234),
            |it| format!("{}::Murchison::flux_{it:02}", ["eustasy", "neptunism"][it % 2]),
            |it| format!("{}山水月石第{it}番", ["風谷", "雲雪", "梅竹"][it % 3]),
            |it| format!("{}ምርመራ ስለ ድንጋይ ዕድሜ ቁጥር {it}", ["የአየር ", "የውሃ "][it % 2]),
            |it| format!("{} об истощении пула соединений № {it}", ["Отчёт", "Доклад"][it % 2]),
            |it| ["㐀", "㐁", "㐂", "㐃", "㐄", "㐅"][it % 6].repeat(6) + &it.to_string(),
            |it| format!("{}.example/~a{it}/?q=%20&b=[{it}]#{{x}}", ["http://a", "b"][it % 2]),
        ];
        let statuses = |it: usize| Some(["contested", "settled"][it % 2]);
        for entities in kinds
            .iter()
            .flat_map(|it| [thirty_entities(*it, |_| None), thirty_entities(*it, statuses)])
        {
            let listed = entities.iter().collect();
            let title = String::new();
            let page = entity_lines(&EntityListing {
                title,
                total: Layout::MAX_RESULTS,
                entities: listed,
                facts: Vec::new(),
                note: None,
            });
            let cost = token_estimate::estimate_token_count(&page);
            assert!(cost <= MAX_LIST_TOKENS, "{cost} tokens:\n{page}");
        }
    }
}
