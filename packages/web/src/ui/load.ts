// Code that is loaded once it is needed.

import { PresageError } from "@presage/sdk";
import { type ComponentType, lazy, useEffect, useState } from "react";

/** What follows is a task of its own, so that what ran before it and what comes do not block together. */
export async function nextTask(): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve));
}

/** Loads a page's code. This fails if the server is unreachable or has another version of the dashboard by now. */
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

/** Loads what floats at the first sign of someone who may open it, so that nobody waits for it and no page begins with it. */
export function loadFloatingEarly(): void {
  const signs = ["keydown", "pointermove", "pointerdown"] as const;
  function load(event: KeyboardEvent | PointerEvent): void {
    // What moves under a pointer that rests is no sign.
    if (event instanceof PointerEvent && event.type === "pointermove" && !event.movementX && !event.movementY)
      return;
    for (const sign of signs) removeEventListener(sign, load, true);
    loadFloating().catch(() => {});
  }
  for (const sign of signs) addEventListener(sign, load, true);
}

/** What dialogs, menus and popovers are made of; undefined until it is wanted and there. */
export function useFloating(isWanted: boolean): Floating | undefined {
  const [, setLoaded] = useState(floating);
  useEffect(() => {
    // It may have come since this was drawn, so that it is asked for in any case.
    if (!isWanted) return;
    loadFloating().then(setLoaded, (error: unknown) =>
      setLoaded(() => {
        throw error;
      }),
    );
  }, [isWanted]);
  return floating;
}

/** The same, inside of what floats already. */
export function floatingParts(): Floating {
  if (floating === undefined) throw new Error("Nothing floats yet.");
  return floating;
}
