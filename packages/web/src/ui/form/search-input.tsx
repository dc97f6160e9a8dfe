import { useState } from "react";
import { TextInput } from "./inputs.tsx";

interface SearchInputProps {
  label: string;
  /** As it stands in the address bar. */
  words: string;
  onSearch(words: string): void;
}

/** Words to search for. The address bar follows what is typed a little later, and must not take back what came since. */
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
