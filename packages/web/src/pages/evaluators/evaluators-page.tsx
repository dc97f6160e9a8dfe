import { createLazyRoute } from "@tanstack/react-router";
import { Page } from "../../ui/page.tsx";

export const evaluatorsRoute = createLazyRoute("/evaluators")({ component: EvaluatorsPage });

function EvaluatorsPage() {
  return <Page title="Evaluators">{null}</Page>;
}
