interface ValueListProps {
  id: string;
  options: readonly { value: string; label?: string | undefined }[];
}

/** A browser lists them all at once. */
const maxOptions = 300;

/** What an input with `list={id}` suggests. Anything else may be typed as well. */
export function ValueList({ id, options }: ValueListProps) {
  return (
    <datalist id={id}>
      {options.slice(0, maxOptions).map(({ value, label }) => (
        <option key={value} value={value} {...(label !== undefined && { label })} />
      ))}
    </datalist>
  );
}
