import { createLazyRoute } from "@tanstack/react-router";
import { Page } from "../../ui/page.tsx";

export const errorTaxonomyRoute = createLazyRoute("/error-taxonomies/$taxonomyId")({
  component: ErrorTaxonomyPage,
});

function ErrorTaxonomyPage() {
  return <Page title="Error taxonomy">{null}</Page>;
}
