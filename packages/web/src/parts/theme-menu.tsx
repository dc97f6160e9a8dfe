import { Monitor, Moon, Sun } from "lucide-react";
import { useState } from "react";
import { readTheme, storeTheme, type Theme } from "../theme.ts";
import { Segmented } from "../ui/form/choices.tsx";

const themes = [
  { value: "light", label: "Light", icon: Sun },
  { value: "dark", label: "Dark", icon: Moon },
  { value: "system", label: "System", icon: Monitor },
] as const;

export function ThemeMenu() {
  const [theme, setTheme] = useState<Theme>(readTheme);
  return (
    <Segmented
      label="Colour theme"
      value={theme}
      options={themes}
      onChange={(next) => {
        setTheme(next);
        storeTheme(next);
      }}
    />
  );
}
