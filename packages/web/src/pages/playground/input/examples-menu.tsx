import { ChevronDown } from "lucide-react";
import { Button } from "../../../ui/button.tsx";
import { Menu, MenuItem } from "../../../ui/menu.tsx";
import type { Draft } from "./draft.ts";
import { examples } from "./examples.ts";

export function ExamplesMenu({ onChoose }: { onChoose(draft: Draft): void }) {
  return (
    <Menu
      trigger={
        <Button size="small">
          Examples
          <ChevronDown aria-hidden />
        </Button>
      }
    >
      {examples.map(({ name, hint, draft }) => (
        <MenuItem key={name} onSelect={() => onChoose(draft)}>
          <span>
            <span className="block font-medium">{name}</span>
            <span className="block text-xs text-ink-3">{hint}</span>
          </span>
        </MenuItem>
      ))}
    </Menu>
  );
}
