//! Joins the pieces into which MemPalace splits mined documents. Each piece begins with the
//! end of the one before, and none names its document.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::exchange::mempalace_tables::{MempalaceTables, Row};

/// Minimum overlap in bytes of two pieces; a shorter one may be chance.
const MIN_OVERLAP: usize = 20;

/// Limit for the size of a joined text.
const MAX_JOINED_BYTES: usize = 200_000;

/// Marks the pieces of one document as such, and removes the overlaps from their texts.
/// Rows are pieces if they have the same source, wing and room, are numbered without a gap,
/// and each overlaps the one before in exactly one way. Exchanges of a conversation are
/// numbered too, but do not overlap.
pub(crate) fn link_chunks_and_cut_overlaps(rows: &mut [Row]) {
    let mut documents: BTreeMap<[Option<String>; 3], Vec<usize>> = BTreeMap::new();
    for (index, row) in rows.iter().enumerate() {
        if row.parent_id().is_none()
            && row.chunk_index().is_some()
            && row.field_text("source_file").is_some()
        {
            let document = ["source_file", "wing", "room"].map(|it| row.field_text(it));
            documents.entry(document).or_default().push(index);
        }
    }
    for mut indices in documents.into_values().filter(|it| it.len() > 1) {
        indices.sort_by_key(|it| rows[*it].chunk_index());
        let Some(rests) = texts_without_overlap(rows, &indices) else { continue };
        let whole = rows[indices[0]].id.clone();
        for (index, rest) in indices.into_iter().zip(rests) {
            let fields = &mut rows[index].fields;
            fields.insert(Row::PARENT_KEY.to_owned(), whole.clone().into());
            fields.insert(MempalaceTables::TEXT_KEY.to_owned(), rest.into());
        }
    }
}

/// Returns the text of each piece without its overlap with the one before; `None` if the rows
/// are not pieces of one text.
fn texts_without_overlap(rows: &[Row], indices: &[usize]) -> Option<Vec<String>> {
    let mut rests: Vec<String> = Vec::new();
    let (mut before, mut size) = ("", 0);
    for (index, number) in indices.iter().zip(0..) {
        let text = rows[*index].fields.get(MempalaceTables::TEXT_KEY).and_then(Value::as_str)?;
        let overlap = if number == 0 { 0 } else { overlap_length(before, text)? };
        size += text.len() - overlap;
        if rows[*index].chunk_index() != Some(number) || size > MAX_JOINED_BYTES {
            return None;
        }
        rests.push(text[overlap..].to_owned());
        before = text;
    }
    Some(rests)
}

/// Returns the number of bytes at the end of `before` with which `text` begins; `None` unless
/// exactly one number of at least [`MIN_OVERLAP`] fits.
fn overlap_length(before: &str, text: &str) -> Option<usize> {
    let longest = before.len().min(text.len());
    let fits = |it: &usize| before.as_bytes().ends_with(&text.as_bytes()[..*it]);
    let mut lengths = (MIN_OVERLAP..longest).filter(|it| text.is_char_boundary(*it)).filter(fits);
    let length = lengths.next()?;
    lengths.next().is_none().then_some(length)
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
        link_chunks_and_cut_overlaps(&mut rows);
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
        link_chunks_and_cut_overlaps(&mut rows);
        assert_eq!(rows, before, "a piece is missing");
    }
}
