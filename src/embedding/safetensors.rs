//! The safetensors format: the length of a header, the header, which is JSON, and
//! numbers. Nothing in it is believed before it was looked at.

use std::collections::HashMap;

use ndarray::{Array1, Array2};
use serde::Deserialize;
use serde_json::Value;

use crate::embedding::Error;

/// The tensors of a file, by name.
pub(crate) struct Tensors<'a> {
    header: HashMap<String, Value>,
    data: &'a [u8],
    /// What all names begin with: `bert.` where a model was saved with its task.
    prefix: &'static str,
}

/// A tensor as the header tells of it.
#[derive(Deserialize)]
struct TensorInfo {
    dtype: String,
    shape: Vec<usize>,
    data_offsets: (usize, usize),
}

impl<'a> Tensors<'a> {
    /// Reads the header of a file.
    pub(crate) fn parse(file: &'a [u8]) -> Result<Self, Error> {
        let torn = |why: &str| Error::InvalidFile(why.to_owned());
        let (length, rest) =
            file.split_first_chunk().ok_or_else(|| torn("it has not even a header's length"))?;
        let length = usize::try_from(u64::from_le_bytes(*length)).unwrap_or(usize::MAX);
        let (header, numbers) =
            rest.split_at_checked(length).ok_or_else(|| torn("its header goes past its end"))?;
        let header: HashMap<String, Value> =
            serde_json::from_slice(header).map_err(|err| torn(&err.to_string()))?;
        let is_of_a_task = header.keys().any(|it| it.starts_with("bert.embeddings."));
        Ok(Self { header, data: numbers, prefix: if is_of_a_task { "bert." } else { "" } })
    }

    /// Tells whether there is a tensor of that name.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.header.contains_key(&self.full_name(name))
    }

    /// Returns a matrix: so many rows, if that is known, of so many columns.
    pub(crate) fn matrix(
        &self,
        name: &str,
        rows: Option<usize>,
        columns: Option<usize>,
    ) -> Result<Array2<f32>, Error> {
        let told = self.tensor_info(name)?;
        let fits = |is: usize, wanted: Option<usize>| wanted.is_none_or(|it| it == is) && is > 0;
        match told.shape[..] {
            [high, wide] if fits(high, rows) && fits(wide, columns) => {
                let numbers = self.values(name, &told)?;
                Array2::from_shape_vec((high, wide), numbers)
                    .map_err(|_| Error::OutOfBounds(self.full_name(name)))
            }
            _ => Err(self.shape_error(name, &told, &[rows, columns])),
        }
    }

    /// Returns a row of so many numbers.
    pub(crate) fn vector(&self, name: &str, length: usize) -> Result<Array1<f32>, Error> {
        let told = self.tensor_info(name)?;
        if told.shape != [length] {
            return Err(self.shape_error(name, &told, &[Some(length)]));
        }
        Ok(self.values(name, &told)?.into())
    }

    fn tensor_info(&self, name: &str) -> Result<TensorInfo, Error> {
        let full = self.full_name(name);
        let Some(said) = self.header.get(&full) else { return Err(Error::MissingTensor(full)) };
        TensorInfo::deserialize(said).map_err(|err| Error::InvalidFile(format!("`{full}`: {err}")))
    }

    fn values(&self, name: &str, told: &TensorInfo) -> Result<Vec<f32>, Error> {
        let name = self.full_name(name);
        if told.dtype != "F32" {
            return Err(Error::UnsupportedType { name, kind: told.dtype.clone() });
        }
        let (from, to) = told.data_offsets;
        let bytes = self.data.get(from..to);
        let wanted = told.shape.iter().try_fold(size_of::<f32>(), |all, it| all.checked_mul(*it));
        let Some(bytes) = bytes.filter(|it| Some(it.len()) == wanted) else {
            return Err(Error::OutOfBounds(name));
        };
        let (numbers, _) = bytes.as_chunks();
        Ok(numbers.iter().map(|it| f32::from_le_bytes(*it)).collect())
    }

    fn shape_error(&self, name: &str, told: &TensorInfo, wanted: &[Option<usize>]) -> Error {
        let spelled = |it: &Option<usize>| it.map_or("any".to_owned(), |it| it.to_string());
        let wanted: Vec<_> = wanted.iter().map(spelled).collect();
        let is: Vec<_> = told.shape.iter().map(usize::to_string).collect();
        let [is, wanted] = [is, wanted].map(|it| format!("[{}]", it.join(", ")));
        Error::WrongShape { name: self.full_name(name), is, wanted }
    }

    fn full_name(&self, name: &str) -> String {
        format!("{}{name}", self.prefix)
    }
}
