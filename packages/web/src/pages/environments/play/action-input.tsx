import { CornerDownLeft } from "lucide-react";
import { type KeyboardEvent, type Ref, useEffect, useRef, useState } from "react";
import { AllowedButton } from "../../../parts/allowed.tsx";
import { useShortcut } from "../../../ui/shortcuts.tsx";

interface ActionInputProps {
  ref: Ref<HTMLInputElement>;
  text: string;
  /** Actions of this episode, oldest first. */
  earlier: readonly string[];
  isBusy: boolean;
  /** Set while an action is unanswered: the next one can be typed, but not sent. */
  isBlocked: boolean;
  onChange(text: string): void;
  onSend(action: string): void;
}

/** The input for actions: Enter sends the text, the arrow keys recall earlier actions. */
export function ActionInput({ ref, text, earlier, isBusy, isBlocked, onChange, onSend }: ActionInputProps) {
  const form = useRef<HTMLFormElement>(null);
  /** How many actions back; 0: the text being typed. */
  const [back, setBack] = useState(0);
  /** The text that was typed before going back. */
  const typed = useRef("");
  const focus = () => form.current?.querySelector("input")?.focus({ preventScroll: true });
  useShortcut({ keys: "i", label: "Type an action", group: "Play", run: focus });
  useEffect(() => {
    // On phones, the focus would open the keyboard over the text to read first.
    if (matchMedia("(hover: hover)").matches)
      form.current?.querySelector("input")?.focus({ preventScroll: true });
  }, []);

  function send() {
    const action = text.trim();
    if (action === "" || isBlocked) return;
    setBack(0);
    onSend(action);
  }

  function onKeyDown(event: KeyboardEvent<HTMLInputElement>) {
    if (event.key === "Escape") {
      if (text === "") event.currentTarget.blur();
      else onChange("");
      return;
    }
    const by = event.key === "ArrowUp" ? 1 : event.key === "ArrowDown" ? -1 : 0;
    const next = back + by;
    if (by === 0 || next < 0 || next > earlier.length) return;
    event.preventDefault();
    if (back === 0) typed.current = text;
    setBack(next);
    onChange(next === 0 ? typed.current : (earlier.at(-next) ?? ""));
  }

  return (
    <form
      ref={form}
      className="flex items-center gap-2 border-t border-line bg-surface p-2.5"
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      <input
        ref={ref}
        type="text"
        aria-label="Your action"
        placeholder={earlier.length === 0 ? "For example: look around" : "What do you do?"}
        autoComplete="off"
        autoCapitalize="off"
        autoCorrect="off"
        spellCheck={false}
        enterKeyHint="send"
        maxLength={100_000}
        value={text}
        onChange={({ target }) => {
          setBack(0);
          onChange(target.value);
        }}
        onKeyDown={onKeyDown}
        // Phones zoom into smaller inputs.
        className="h-10 min-w-0 flex-1 rounded-md border border-line-strong bg-surface px-3 text-[1rem] text-ink transition-colors placeholder:text-ink-3 hover:border-ink-3 md:text-sm"
      />
      <AllowedButton
        needs="predict"
        type="submit"
        variant="primary"
        className="h-10!"
        isBusy={isBusy}
        disabled={isBlocked ? !isBusy : text.trim() === ""}
        icon={<CornerDownLeft aria-hidden />}
      >
        Send
      </AllowedButton>
    </form>
  );
}
