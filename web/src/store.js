// Values that several parts of the page show, and that tell them when they change.
import { useEffect, useState } from 'preact/hooks';

export function make_store(value) {
  const listeners = new Set();
  return {
    get: () => value,
    // Changes the named members. Listeners are told at once.
    set(change) {
      value = { ...value, ...change };
      for (const listener of [...listeners]) listener(value);
    },
    listen(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

// The store's value, in a component that is drawn again when it changes.
export function use_store(store) {
  const [value, set_value] = useState(store.get());
  useEffect(() => {
    set_value(store.get());
    return store.listen(set_value);
  }, [store]);
  return value;
}

// What a browser keeps may be switched off, or full: then nothing is kept.
export function kept(storage, key) {
  try {
    return window[storage].getItem(key);
  } catch {
    return null;
  }
}

export function keep(storage, key, text) {
  try {
    if (text === null) window[storage].removeItem(key);
    else window[storage].setItem(key, text);
    return true;
  } catch {
    return false;
  }
}
