import { createLazyRoute } from "@tanstack/react-router";
import { LogOut } from "lucide-react";
import { useSignOut } from "../../session/use-sign-out.ts";
import { ThemeMenu } from "../../theme/theme-menu.tsx";
import { Button } from "../../ui/button.tsx";
import { Card } from "../../ui/card.tsx";
import { ErrorNotice } from "../../ui/error-notice.tsx";
import { Page } from "../../ui/page.tsx";
import { Identity } from "./identity.tsx";
import { SessionsCard } from "./sessions-card.tsx";

export const accountRoute = createLazyRoute("/account")({ component: AccountPage });

function AccountPage() {
  const signOut = useSignOut();
  return (
    <Page
      title="Account"
      hint="Who is signed in, and where."
      actions={
        <Button icon={<LogOut aria-hidden />} isBusy={signOut.isPending} onClick={() => signOut.mutate()}>
          Sign out
        </Button>
      }
    >
      {signOut.error !== null && <ErrorNotice error={signOut.error} />}
      <Identity />
      <SessionsCard />
      <Card title="Appearance" hint="Kept in this browser." actions={<ThemeMenu />}>
        {null}
      </Card>
    </Page>
  );
}
