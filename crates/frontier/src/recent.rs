//! What was used recently?
//!
//! A bounded cache with two generations: entries that are used stay in the young one; when it is
//! full it becomes the old one, and whatever was not used since is evicted. Each operation costs
//! one or two look-ups, and there is no LRU list to maintain.

use hashbrown::HashMap;
use std::hash::Hash;

/// A cache that evicts what was not used recently.
#[derive(Debug)]
pub(crate) struct Recent<K, V> {
    young: HashMap<K, (V, usize)>,
    old: HashMap<K, (V, usize)>,
    weight: usize,
    capacity: usize,
}

impl<K: Eq + Hash + Clone, V> Recent<K, V> {
    /// A cache with this capacity, in the units of the weights given to [`Self::insert`].
    pub(crate) fn new(capacity: usize) -> Self {
        Self { young: HashMap::new(), old: HashMap::new(), weight: 0, capacity: capacity / 2 }
    }

    /// Inserts a value, replacing one with the same key.
    pub(crate) fn insert(&mut self, key: K, value: V, weight: usize) {
        self.old.remove(&key);
        if let Some((_, w)) = self.young.remove(&key) {
            self.weight -= w;
        }
        if self.weight + weight > self.capacity && !self.young.is_empty() {
            self.old = std::mem::take(&mut self.young);
            self.weight = 0;
        }
        self.weight += weight;
        self.young.insert(key, (value, weight));
    }

    /// The value of a key; counts as a use.
    pub(crate) fn get(&mut self, key: &K) -> Option<&mut V> {
        if let Some((key, (value, weight))) = self.old.remove_entry(key) {
            self.insert(key, value, weight);
        }
        self.young.get_mut(key).map(|(v, _)| v)
    }

    /// The value of a key, or a default with the given weight.
    pub(crate) fn get_or_insert(&mut self, key: K, weight: usize) -> &mut V
    where
        V: Default,
    {
        if !self.young.contains_key(&key) {
            let (value, weight) = self.old.remove(&key).unwrap_or_else(|| (V::default(), weight));
            self.insert(key.clone(), value, weight);
        }
        &mut self.young.entry(key).or_default().0
    }

    /// The value of a key, without counting as a use.
    pub(crate) fn peek(&self, key: &K) -> Option<&V> {
        self.young.get(key).or_else(|| self.old.get(key)).map(|(v, _)| v)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_used_stays_and_the_rest_is_forgotten() {
        let mut map = Recent::new(10);
        for i in 0..100 {
            map.insert(i, i, 1);
            assert_eq!(map.get(&0), Some(&mut 0));
        }
        assert!(map.peek(&1).is_none());
        assert!(map.young.len() + map.old.len() <= 10);
    }

    #[test]
    fn a_value_heavier_than_the_map_is_still_held_alone() {
        let mut map = Recent::new(10);
        map.insert(1, (), 100);
        map.insert(2, (), 100);
        assert!(map.get(&2).is_some());
    }
}
