import "./app.css";
import { QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { StrictMode } from "react";
import { createDataClients, PresageContext } from "./data/client.ts";
import { createAppRouter } from "./router.tsx";
import { leaveWhenRestored, leaveWhenSignedOutElsewhere } from "./session.ts";
import { loadFloatingEarly, nextTask } from "./ui/load.ts";
import { ShortcutsProvider } from "./ui/shortcuts.tsx";

void start();

async function start(): Promise<void> {
  const container = document.getElementById("root");
  if (container === null) throw new Error("The page has no #root element.");
  leaveWhenRestored();
  leaveWhenSignedOutElsewhere();
  loadFloatingEarly();
  // The scripts themselves have taken the browser some time.
  await nextTask();
  const { presage, queryClient } = createDataClients();
  const router = createAppRouter();
  await nextTask();
  // React DOM is half of the code that a page starts with.
  const { createRoot } = await import("react-dom/client");
  createRoot(container).render(
    <StrictMode>
      <PresageContext value={presage}>
        <QueryClientProvider client={queryClient}>
          <ShortcutsProvider>
            <RouterProvider router={router} />
          </ShortcutsProvider>
        </QueryClientProvider>
      </PresageContext>
    </StrictMode>,
  );
}
