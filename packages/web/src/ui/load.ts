// Code that is loaded when it is needed.

import { PresageError } from "@presage/sdk";
import { type ComponentType, lazy, useEffect, useState } from "react";

/** Continues in a new task, so that the work before and after it does not block the page in one piece. */
export async function nextTask(): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve));
}

/** Loads a page's code. This fails if the server is unreachable or has a different version of the dashboard by now. */
export async function loadPage<Module>(load: () => Promise<Module>): Promise<Module> {
  try {
    const module = await load();
    await nextTask();
    return module;
  } catch (cause) {
    throw new PresageError("Part of the dashboard could not be loaded.", { category: "connection", cause });
  }
}

/** A component whose code is loaded when it is first drawn, for a `Suspense` around it. */
export function lazyPart<Props>(load: () => Promise<ComponentType<Props>>) {
  return lazy(async () => ({ default: await loadPage(load) }));
}

type Floating = typeof import("./floating.ts");

let floating: Floating | undefined;

async function loadFloating(): Promise<Floating> {
  floating ??= await loadPage(() => import("./floating.ts"));
  return floating;
}

/** Loads what floats at the first sign of user input: the user need not wait for it, and the page does not start with it. */
export function loadFloatingEarly(): void {
  const signs = ["keydown", "pointermove", "pointerdown"] as const;
  function load(event: KeyboardEvent | PointerEvent): void {
    // The page may move under a pointer that rests, which is no sign.
    if (event instanceof PointerEvent && event.type === "pointermove" && !event.movementX && !event.movementY)
      return;
    for (const sign of signs) removeEventListener(sign, load, true);
    loadFloating().catch(() => {});
  }
  for (const sign of signs) addEventListener(sign, load, true);
}

/** The parts of dialogs, menus and popovers; undefined until they are wanted and loaded. */
export function useFloating(isWanted: boolean): Floating | undefined {
  const [, setLoaded] = useState(floating);
  useEffect(() => {
    // Asked for even if it is loaded by now: it may have been loaded since this was drawn.
    if (!isWanted) return;
    loadFloating().then(setLoaded, (error: unknown) =>
      setLoaded(() => {
        throw error;
      }),
    );
  }, [isWanted]);
  return floating;
}

/** The same parts, for components inside of what floats already. */
export function floatingParts(): Floating {
  if (floating === undefined) throw new Error("Nothing floats yet.");
  return floating;
}
