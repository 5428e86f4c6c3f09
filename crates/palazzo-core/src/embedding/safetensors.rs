//! Parses the safetensors format: the length of the header, the header as JSON, and the
//! numbers. All lengths and offsets are checked before use.

use std::collections::HashMap;

use ndarray::{Array1, Array2};
use serde::Deserialize;
use serde_json::Value;

use crate::embedding::Error;

/// The tensors of a file, by name.
pub(crate) struct Tensors<'a> {
    header: HashMap<String, Value>,
    data: &'a [u8],
    /// The prefix of all names: `bert.` if the model was saved with a task head.
    prefix: &'static str,
}

/// The entry of a tensor in the header.
#[derive(Deserialize)]
struct TensorInfo {
    dtype: String,
    shape: Vec<usize>,
    data_offsets: (usize, usize),
}

impl<'a> Tensors<'a> {
    /// Parses the header of a file.
    pub(crate) fn parse(file: &'a [u8]) -> Result<Self, Error> {
        let invalid = |why: &str| Error::InvalidFile(why.to_owned());
        let (length, rest) = file
            .split_first_chunk()
            .ok_or_else(|| invalid("it is shorter than the length of a header"))?;
        let length = usize::try_from(u64::from_le_bytes(*length)).unwrap_or(usize::MAX);
        let (header, numbers) = rest
            .split_at_checked(length)
            .ok_or_else(|| invalid("its header extends beyond its end"))?;
        let header: HashMap<String, Value> =
            serde_json::from_slice(header).map_err(|err| invalid(&err.to_string()))?;
        let has_task_head = header.keys().any(|it| it.starts_with("bert.embeddings."));
        Ok(Self { header, data: numbers, prefix: if has_task_head { "bert." } else { "" } })
    }

    /// Returns true if there is a tensor with this name.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.header.contains_key(&self.prefixed_name(name))
    }

    /// Returns a matrix; checks the numbers of rows and columns that are given.
    pub(crate) fn matrix(
        &self,
        name: &str,
        rows: Option<usize>,
        columns: Option<usize>,
    ) -> Result<Array2<f32>, Error> {
        let info = self.tensor_info(name)?;
        let fits = |is: usize, wanted: Option<usize>| wanted.is_none_or(|it| it == is) && is > 0;
        match info.shape[..] {
            [high, wide] if fits(high, rows) && fits(wide, columns) => {
                let numbers = self.values(name, &info)?;
                Array2::from_shape_vec((high, wide), numbers)
                    .map_err(|_| Error::OutOfBounds(self.prefixed_name(name)))
            }
            _ => Err(self.shape_error(name, &info, &[rows, columns])),
        }
    }

    /// Returns a vector of `length` numbers.
    pub(crate) fn vector(&self, name: &str, length: usize) -> Result<Array1<f32>, Error> {
        let info = self.tensor_info(name)?;
        if info.shape != [length] {
            return Err(self.shape_error(name, &info, &[Some(length)]));
        }
        Ok(self.values(name, &info)?.into())
    }

    fn tensor_info(&self, name: &str) -> Result<TensorInfo, Error> {
        let full = self.prefixed_name(name);
        let Some(entry) = self.header.get(&full) else { return Err(Error::MissingTensor(full)) };
        TensorInfo::deserialize(entry).map_err(|err| Error::InvalidFile(format!("`{full}`: {err}")))
    }

    fn values(&self, name: &str, info: &TensorInfo) -> Result<Vec<f32>, Error> {
        let name = self.prefixed_name(name);
        if info.dtype != "F32" {
            return Err(Error::UnsupportedType { name, kind: info.dtype.clone() });
        }
        let (from, to) = info.data_offsets;
        let bytes = self.data.get(from..to);
        let wanted = info.shape.iter().try_fold(size_of::<f32>(), |all, it| all.checked_mul(*it));
        let Some(bytes) = bytes.filter(|it| Some(it.len()) == wanted) else {
            return Err(Error::OutOfBounds(name));
        };
        let (numbers, _) = bytes.as_chunks();
        Ok(numbers.iter().map(|it| f32::from_le_bytes(*it)).collect())
    }

    fn shape_error(&self, name: &str, info: &TensorInfo, wanted: &[Option<usize>]) -> Error {
        let spelled = |it: &Option<usize>| it.map_or("any".to_owned(), |it| it.to_string());
        let wanted: Vec<_> = wanted.iter().map(spelled).collect();
        let is: Vec<_> = info.shape.iter().map(usize::to_string).collect();
        let [is, wanted] = [is, wanted].map(|it| format!("[{}]", it.join(", ")));
        Error::WrongShape { name: self.prefixed_name(name), is, wanted }
    }

    fn prefixed_name(&self, name: &str) -> String {
        format!("{}{name}", self.prefix)
    }
}
