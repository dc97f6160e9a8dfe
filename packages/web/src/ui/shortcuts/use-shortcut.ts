import { useEffectEvent, useLayoutEffect } from "react";
import type { Shortcut } from "./create-shortcuts.ts";
import { useShortcutRegistry } from "./shortcuts-provider.tsx";

/** Registers a shortcut for as long as the component is shown. */
export function useShortcut({ keys, label, group, run }: Shortcut, isOn = true): void {
  const shortcuts = useShortcutRegistry();
  const onPress = useEffectEvent(run);
  // Before it is painted: what is seen can be used.
  useLayoutEffect(() => {
    if (!isOn) return;
    return shortcuts.register({ keys, label, group, run: () => onPress() });
  }, [shortcuts, keys, label, group, isOn]);
}
