//! The pieces into which MemPalace cuts what it mines: each begins with the end of
//! the one before, and none says of what it is a piece.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::exchange::mempalace::{MempalaceTables, Row};

/// The fewest bytes that two pieces have in common and not by chance.
const MIN_OVERLAP: usize = 20;

/// The most bytes of a text that is put together of pieces.
const MAX_JOINED_BYTES: usize = 200_000;

/// Makes pieces of one document say that they are, without what is in the one
/// before: those of one source, wing and room that are numbered without a gap, if
/// each fits the one before in one way and no other. Exchanges of a conversation
/// are numbered too, and fit nothing.
pub(crate) fn link_overlapping_chunks(rows: &mut [Row]) {
    let mut documents: BTreeMap<[Option<String>; 3], Vec<usize>> = BTreeMap::new();
    for (place, row) in rows.iter().enumerate() {
        if row.parent_id().is_none()
            && row.chunk_index().is_some()
            && row.field_text("source_file").is_some()
        {
            let document = ["source_file", "wing", "room"].map(|it| row.field_text(it));
            documents.entry(document).or_default().push(place);
        }
    }
    for mut places in documents.into_values().filter(|it| it.len() > 1) {
        places.sort_by_key(|it| rows[*it].chunk_index());
        let Some(rests) = texts_without_overlap(rows, &places) else { continue };
        let whole = rows[places[0]].id.clone();
        for (place, rest) in places.into_iter().zip(rests) {
            let fields = &mut rows[place].fields;
            fields.insert(Row::PARENT_KEY.to_owned(), whole.clone().into());
            fields.insert(MempalaceTables::TEXT_KEY.to_owned(), rest.into());
        }
    }
}

/// Returns what each piece adds to those before; `None`: they are no pieces of one
/// text.
fn texts_without_overlap(rows: &[Row], places: &[usize]) -> Option<Vec<String>> {
    let mut rests: Vec<String> = Vec::new();
    let (mut before, mut size) = ("", 0);
    for (place, number) in places.iter().zip(0..) {
        let text = rows[*place].fields.get(MempalaceTables::TEXT_KEY).and_then(Value::as_str)?;
        let seam = if number == 0 { 0 } else { overlap_length(before, text)? };
        size += text.len() - seam;
        if rows[*place].chunk_index() != Some(number) || size > MAX_JOINED_BYTES {
            return None;
        }
        rests.push(text[seam..].to_owned());
        before = text;
    }
    Some(rests)
}

/// Returns how many bytes at the end of `before` are the beginning of `text`, if
/// there is only one such number that is no chance.
fn overlap_length(before: &str, text: &str) -> Option<usize> {
    let longest = before.len().min(text.len());
    let fits = |it: &usize| before.as_bytes().ends_with(&text.as_bytes()[..*it]);
    let mut seams = (MIN_OVERLAP..longest).filter(|it| text.is_char_boundary(*it)).filter(fits);
    let seam = seams.next()?;
    seams.next().is_none().then_some(seam)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn chunk_rows(texts: &[&str]) -> Vec<Row> {
        let row = |(number, text): (usize, &&str)| {
            let fields = json!({ "source_file": "/n/a.md", "wing": "w", "room": "r",
                "chunk_index": number, (MempalaceTables::TEXT_KEY): text });
            let id = format!("p{number}");
            Row { table: "embeddings", id, fields: fields.as_object().cloned().unwrap_or_default() }
        };
        texts.iter().enumerate().map(row).collect()
    }

    fn joined_text(texts: &[&str]) -> Option<String> {
        let mut rows = chunk_rows(texts);
        link_overlapping_chunks(&mut rows);
        let text = |it: &Row| it.fields.get(MempalaceTables::TEXT_KEY)?.as_str().map(str::to_owned);
        let is_piece = rows.iter().all(|it| it.parent_id().as_deref() == Some("p0"));
        is_piece.then(|| rows.iter().filter_map(text).collect())
    }

    #[test]
    fn overlapping_chunks_are_joined_into_one_text() {
        let text = "Grey beds stand on end here like bööks, sawn off level, and red sandstone \
             lies across them, as James Hutton saw.";
        let cut = [&text[..60], &text[30..90], &text[60..]];
        assert_eq!(joined_text(&cut).as_deref(), Some(text));
    }

    #[test]
    fn ambiguous_or_incomplete_chunks_are_not_joined() {
        let line = "-".repeat(60);
        assert_eq!(joined_text(&[&line, &line]), None, "it fits in many ways");
        assert_eq!(
            joined_text(&["User:\nWhy black?", "User:\nWhy grey?"]),
            None,
            "it fits in none"
        );
        let text = "Grey beds stand on end here like books, sawn off level, and red sandstone";
        let mut rows = chunk_rows(&[&text[..50], &text[20..]]);
        rows[1].fields["chunk_index"] = 2.into();
        let before = rows.clone();
        link_overlapping_chunks(&mut rows);
        assert_eq!(rows, before, "a piece is missing");
    }
}
