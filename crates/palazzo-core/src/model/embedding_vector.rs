//! Embedding vectors, quantized to bytes.

use std::collections::HashMap;

/// Embeddings of passages, by the hash of their text.
pub type VectorsByTextHash = HashMap<u64, EmbeddingVector>;

/// An embedding, with one byte per component: for search, 400 bytes are as good as the 1,600 bytes
/// of the original floats.
#[derive(Clone, Debug, PartialEq)]
pub struct EmbeddingVector {
    components: Box<[i8]>,
    norm: f32,
}

impl EmbeddingVector {
    /// Quantizes an embedding; `None` for the zero vector.
    #[expect(clippy::cast_possible_truncation, reason = "127 is the most that is left")]
    pub fn from_floats(numbers: &[f32]) -> Option<Self> {
        let max = numbers.iter().fold(0.0_f32, |max, it| max.max(it.abs()));
        let unit = f32::from(i8::MAX) / max;
        Self::from_components(numbers.iter().map(|it| (it * unit).round() as i8).collect())
    }

    /// Returns the vector with these components; `None` for the zero vector.
    #[expect(clippy::cast_precision_loss, reason = "a length need not be exact")]
    pub fn from_components(parts: Box<[i8]>) -> Option<Self> {
        let length = (dot_product(&parts, &parts) as f32).sqrt();
        (length > 0.0).then_some(Self { components: parts, norm: length })
    }

    /// Returns the components.
    pub fn components(&self) -> &[i8] {
        &self.components
    }

    /// Returns the cosine similarity: 1 for the same direction, 0 for unrelated vectors and for
    /// vectors of different models.
    #[expect(clippy::cast_precision_loss, reason = "a likeness need not be exact")]
    pub fn cosine_similarity(&self, other: &Self) -> f32 {
        match self.components.len() == other.components.len() {
            true => {
                dot_product(&self.components, &other.components) as f32 / (self.norm * other.norm)
            }
            false => 0.0,
        }
    }
}

fn dot_product(a: &[i8], b: &[i8]) -> i32 {
    a.iter().zip(b).map(|(a, b)| i32::from(i16::from(*a) * i16::from(*b))).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vectors_keep_the_cosine_similarity_of_their_numbers() {
        let of = |numbers: &[f32]| EmbeddingVector::from_floats(numbers).unwrap();
        let east = of(&[0.001, 0.0, 0.0]);
        assert!((east.cosine_similarity(&of(&[5.0, 0.0, 0.0])) - 1.0).abs() < 1e-6);
        assert!((east.cosine_similarity(&of(&[3.0, 3.0, 0.0])) - 0.5_f32.sqrt()).abs() < 0.01);
        assert!((east.cosine_similarity(&of(&[-1.0, 0.0, 0.0])) + 1.0).abs() < 1e-6);
        assert!(east.cosine_similarity(&of(&[1.0])).abs() < 1e-6);
    }

    #[test]
    fn numbers_without_a_direction_make_no_vector() {
        for numbers in [&[][..], &[0.0, 0.0], &[f32::NAN], &[f32::NAN, f32::INFINITY]] {
            assert_eq!(EmbeddingVector::from_floats(numbers), None, "{numbers:?}");
        }
    }
}
