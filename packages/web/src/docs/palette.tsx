import { createPresage } from "@presage/sdk";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { useState } from "react";
import { flushSync } from "react-dom";
import { createRoot } from "react-dom/client";
import { PresageContext } from "../data/client.ts";
import { csrfToken } from "../session.ts";
import { Palette } from "../shell/palette.tsx";
import type { PaletteEntry } from "../shell/palette-entries.ts";

const presage = createPresage({ csrfToken });
const queryClient = new QueryClient({ defaultOptions: { queries: { retry: false } } });

/** Adds the dashboard's palette to the page, open. Returns a function that opens it again. */
export function putPalette(typed: string): () => void {
  const root = createRoot(document.body.appendChild(document.createElement("div")));
  let opened = 0;
  const open = () => {
    opened += 1;
    flushSync(() => root.render(<DocsPalette opened={opened} typed={typed} />));
  };
  open();
  return open;
}

/** `opened` counts how often the palette was opened. */
function DocsPalette({ opened, typed }: { opened: number; typed: string }) {
  const [closed, setClosed] = useState(0);
  return (
    <PresageContext value={presage}>
      <QueryClientProvider client={queryClient}>
        <Palette
          isOpen={opened > closed}
          onClose={() => setClosed(opened)}
          actions={noActions}
          onGo={(address) => location.assign(address)}
          isSignedIn={Boolean(csrfToken())}
          typed={typed}
        />
      </QueryClientProvider>
    </PresageContext>
  );
}

const noActions: PaletteEntry[] = [];
