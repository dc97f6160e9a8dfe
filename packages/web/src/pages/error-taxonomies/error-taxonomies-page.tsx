import { createLazyRoute } from "@tanstack/react-router";
import { Page } from "../../ui/page.tsx";

export const errorTaxonomiesRoute = createLazyRoute("/error-taxonomies")({ component: ErrorTaxonomiesPage });

function ErrorTaxonomiesPage() {
  return <Page title="Error taxonomies">{null}</Page>;
}
