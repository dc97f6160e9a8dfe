import { createLazyRoute } from "@tanstack/react-router";
import { Page } from "../../ui/page.tsx";

export const evaluationsRoute = createLazyRoute("/evaluations")({ component: EvaluationsPage });

function EvaluationsPage() {
  return <Page title="Evaluations">{null}</Page>;
}
