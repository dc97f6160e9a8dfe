import { ChevronDown } from "lucide-react";
import { useRef } from "react";
import { Button } from "../../../ui/button.tsx";
import { Menu, MenuItem } from "../../../ui/overlay/menu.tsx";
import type { Draft } from "./draft.ts";
import { examples } from "./examples.ts";

export function ExamplesMenu({ onChoose }: { onChoose(draft: Draft): void }) {
  const button = useRef<HTMLButtonElement>(null);
  return (
    <Menu
      trigger={
        <Button ref={button} size="small">
          Examples
          <ChevronDown aria-hidden />
        </Button>
      }
    >
      {examples.map(({ name, hint, draft }) => (
        <MenuItem
          key={name}
          onSelect={() => {
            // A dialog that is opened now leads the focus back to where it is: not to an item of a closed menu.
            button.current?.focus();
            onChoose(draft);
          }}
        >
          <span>
            <span className="block font-medium">{name}</span>
            <span className="block text-xs text-ink-3">{hint}</span>
          </span>
        </MenuItem>
      ))}
    </Menu>
  );
}
