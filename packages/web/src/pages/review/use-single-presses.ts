import { useEffect } from "react";
import { isTyping } from "../../ui/shortcuts/is-typing.ts";

/** A key that is held repeats faster than anybody decides. It must not decide on what follows. */
export function useSinglePresses(): void {
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      // Shortcuts leave out what is prevented; other keys, such as those that scroll, repeat.
      if (event.repeat && event.key.length === 1 && !isTyping(event.target)) event.preventDefault();
    };
    window.addEventListener("keydown", onKeyDown, { capture: true });
    return () => window.removeEventListener("keydown", onKeyDown, { capture: true });
  }, []);
}
