import { createLazyRoute } from "@tanstack/react-router";
import { Page } from "../../ui/page.tsx";

export const profileRoute = createLazyRoute("/evaluators/profiles/$publicId")({ component: ProfilePage });

function ProfilePage() {
  return <Page title="Profile">{null}</Page>;
}
