//! What a text means, as a direction among others.

use std::collections::HashMap;

/// What passages mean, by the number that stands for what they say.
pub type VectorsByTextHash = HashMap<u64, Vector>;

/// A direction, in parts of a byte each: four hundred bytes tell as much as the
/// sixteen hundred of the numbers it was made of.
#[derive(Clone, Debug, PartialEq)]
pub struct Vector {
    components: Box<[i8]>,
    norm: f32,
}

impl Vector {
    /// Finds the direction of some numbers; `None`: they have none.
    #[expect(clippy::cast_possible_truncation, reason = "127 is the most that is left")]
    pub fn from_floats(numbers: &[f32]) -> Option<Self> {
        let most = numbers.iter().fold(0.0_f32, |most, it| most.max(it.abs()));
        let unit = f32::from(i8::MAX) / most;
        Self::from_components(numbers.iter().map(|it| (it * unit).round() as i8).collect())
    }

    /// Returns a direction of these parts; `None`: they have none.
    #[expect(clippy::cast_precision_loss, reason = "a length need not be exact")]
    pub fn from_components(parts: Box<[i8]>) -> Option<Self> {
        let length = (dot_product(&parts, &parts) as f32).sqrt();
        (length > 0.0).then_some(Self { components: parts, norm: length })
    }

    /// Returns the parts.
    pub fn components(&self) -> &[i8] {
        &self.components
    }

    /// Tells how alike two directions are: 1, the same; 0, they have nothing to do
    /// with each other, or are of different models.
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
        let of = |numbers: &[f32]| Vector::from_floats(numbers).unwrap();
        let east = of(&[0.001, 0.0, 0.0]);
        assert!((east.cosine_similarity(&of(&[5.0, 0.0, 0.0])) - 1.0).abs() < 1e-6);
        assert!((east.cosine_similarity(&of(&[3.0, 3.0, 0.0])) - 0.5_f32.sqrt()).abs() < 0.01);
        assert!((east.cosine_similarity(&of(&[-1.0, 0.0, 0.0])) + 1.0).abs() < 1e-6);
        assert!(east.cosine_similarity(&of(&[1.0])).abs() < 1e-6);
    }

    #[test]
    fn numbers_without_a_direction_make_no_vector() {
        for numbers in [&[][..], &[0.0, 0.0], &[f32::NAN], &[f32::NAN, f32::INFINITY]] {
            assert_eq!(Vector::from_floats(numbers), None, "{numbers:?}");
        }
    }
}
