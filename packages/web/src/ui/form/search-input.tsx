import { useState } from "react";
import { TextInput } from "./inputs.tsx";

interface SearchInputProps {
  label: string;
  /** From the URL. */
  words: string;
  onSearch(words: string): void;
}

/** A search field. The URL follows the input with a delay, and must not overwrite what was typed since. */
export function SearchInput({ label, words, onSearch }: SearchInputProps) {
  const [state, setState] = useState({ typed: words, seen: words, sent: [] as string[] });
  if (words !== state.seen) {
    const echo = state.sent.indexOf(words);
    setState(
      echo === -1
        ? { typed: words, seen: words, sent: [] }
        : { ...state, seen: words, sent: state.sent.slice(echo + 1) },
    );
  }
  return (
    <TextInput
      type="search"
      aria-label={label}
      placeholder="Search"
      className="w-56!"
      value={state.typed}
      onChange={({ target }) => {
        setState({ ...state, typed: target.value, sent: [...state.sent, target.value] });
        onSearch(target.value);
      }}
    />
  );
}
