import { createLazyRoute } from "@tanstack/react-router";
import { LogOut } from "lucide-react";
import { useSignOut } from "../../data/sessions.ts";
import { ThemeMenu } from "../../theme/theme-menu.tsx";
import { Button } from "../../ui/button.tsx";
import { Card } from "../../ui/card.tsx";
import { ErrorNotice } from "../../ui/error-notice.tsx";
import { Page } from "../../ui/page.tsx";
import { CaptureCard } from "./capture-card.tsx";
import { Identity } from "./identity.tsx";
import { SessionsCard } from "./sessions-card.tsx";

export const accountRoute = createLazyRoute("/account")({ component: AccountPage });

function AccountPage() {
  const signOut = useSignOut();
  return (
    <Page
      title="Account"
      hint="Your identity and your sessions."
      actions={
        <Button icon={<LogOut aria-hidden />} isBusy={signOut.isPending} onClick={() => signOut.mutate()}>
          Sign out
        </Button>
      }
    >
      {signOut.error !== null && <ErrorNotice error={signOut.error} />}
      <Identity />
      <SessionsCard />
      <CaptureCard />
      <Card>
        <div className="flex items-center gap-3 px-4 py-2.5">
          <div className="flex-1">
            <h2 className="text-sm font-semibold">Appearance</h2>
            <p className="text-xs text-ink-3">Saved in this browser.</p>
          </div>
          <ThemeMenu />
        </div>
      </Card>
    </Page>
  );
}
