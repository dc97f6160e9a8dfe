import { createLazyRoute } from "@tanstack/react-router";
import { Page } from "../../ui/page.tsx";

export const playgroundRoute = createLazyRoute("/playground")({ component: PlaygroundPage });

function PlaygroundPage() {
  return <Page title="Playground">{null}</Page>;
}
