import { Plus, X } from "lucide-react";
import { type KeyboardEvent, useRef, useState } from "react";
import { Button, IconButton } from "../button.tsx";
import { TextArea } from "./inputs.tsx";

interface TextListProps {
  /** The name of one item: “Substring”. */
  itemLabel: string;
  texts: readonly string[];
  onChange(texts: string[]): void;
}

/** A list of texts. Enter adds one, Shift+Enter inserts a line break. */
export function TextList({ itemLabel, texts, onChange }: TextListProps) {
  const [added, setAdded] = useState<number>();
  const addButton = useRef<HTMLButtonElement>(null);

  function add() {
    setAdded(texts.length);
    onChange([...texts, ""]);
  }
  function remove(index: number) {
    // The pressed button disappears with the last row. In other rows the next row takes its place.
    if (index === texts.length - 1) addButton.current?.focus();
    onChange(texts.toSpliced(index, 1));
  }
  function addOnEnter(event: KeyboardEvent) {
    if (event.key !== "Enter" || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    add();
  }

  return (
    <div className="flex min-w-0 flex-col gap-1.5">
      {texts.length > 0 && (
        <ul className="flex flex-col gap-1.5">
          {texts.map((text, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: items have no identity, and rows have no state
            <li key={index} className="flex items-start gap-1">
              <TextArea
                aria-label={`${itemLabel} ${index + 1}`}
                rows={1}
                className="min-h-8.5! resize-none"
                value={text}
                autoFocus={index === added}
                onKeyDown={addOnEnter}
                onChange={({ target }) => onChange(texts.with(index, target.value))}
              />
              <IconButton
                label={`Remove ${itemLabel.toLowerCase()} ${index + 1}`}
                icon={<X aria-hidden />}
                className="mt-1"
                onClick={() => remove(index)}
              />
            </li>
          ))}
        </ul>
      )}
      <Button ref={addButton} size="small" icon={<Plus aria-hidden />} className="self-start" onClick={add}>
        Add {itemLabel.toLowerCase()}
      </Button>
    </div>
  );
}
