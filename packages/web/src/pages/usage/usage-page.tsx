import { createLazyRoute } from "@tanstack/react-router";
import { Page } from "../../ui/page.tsx";

export const usageRoute = createLazyRoute("/usage")({ component: UsagePage });

function UsagePage() {
  return <Page title="Usage">{null}</Page>;
}
