import type { Role } from "@presage/sdk";
import { useQuery } from "@tanstack/react-query";
import { createLazyRoute } from "@tanstack/react-router";
import { LogOut } from "lucide-react";
import { useSyncExternalStore } from "react";
import { meQuery, useSignOut } from "../../data/accounts.ts";
import { usePresage } from "../../data/client.ts";
import { counted } from "../../format/numbers.ts";
import { describeCapture, humanizeName } from "../../format/words.ts";
import { readTheme, storeTheme, watchTheme } from "../../theme.ts";
import { Button } from "../../ui/button.tsx";
import { Card, Fact } from "../../ui/card.tsx";
import { Segmented } from "../../ui/form/choices.tsx";
import { ErrorNotice } from "../../ui/notice.tsx";
import { Page } from "../../ui/page.tsx";
import { Skeleton } from "../../ui/skeleton.tsx";
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
      <div className="grid min-w-0 items-start gap-4 xl:grid-cols-2">
        <div className="flex min-w-0 flex-col gap-4">
          <Identity />
          <CaptureCard />
        </div>
        <div className="flex min-w-0 flex-col gap-4">
          <SessionsCard />
          <Card>
            <div className="flex items-center gap-3 px-4 py-2.5">
              <div className="flex-1">
                <h2 className="text-sm font-semibold">Appearance</h2>
                <p className="text-xs text-ink-3">Saved in this browser.</p>
              </div>
              <ThemeMenu />
            </div>
          </Card>
        </div>
      </div>
    </Page>
  );
}

function Identity() {
  const presage = usePresage();
  const { data: me, error, refetch } = useQuery(meQuery(presage));
  if (error !== null) return <ErrorNotice error={error} onRetry={refetch} />;
  const placeholder = <Skeleton className="h-5 w-48" />;
  return (
    <Card title="You">
      <dl className="grid gap-x-6 gap-y-2 px-4 py-3 text-sm sm:grid-cols-[9rem_minmax(0,1fr)]">
        <Fact look="row" name="Name">
          {me ? (me.name ?? "–") : placeholder}
        </Fact>
        {me?.email !== null && (
          <Fact look="row" name="Email">
            {me?.email ?? placeholder}
          </Fact>
        )}
        <Fact look="row" name="Role">
          {me ? (
            <>
              {humanizeName(me.role)}
              <span className="block text-xs text-ink-3">{mayDo[me.role]}</span>
            </>
          ) : (
            placeholder
          )}
        </Fact>
        <Fact look="row" name="Identity provider">
          {me ? <Issuer issuer={me.oidc_issuer} /> : placeholder}
        </Fact>
        {me && me.oidc_issuer !== localIssuer && (
          <Fact look="row" name="Your id there">
            <span className="font-mono text-xs">{me.oidc_subject}</span>
            <span className="block text-xs text-ink-3">
              The subject (sub) of its tokens, by which you are known here.
            </span>
          </Fact>
        )}
      </dl>
    </Card>
  );
}

const mayDo: Record<Role, string> = {
  owner: "You may do everything, including managing members.",
  member: "You may predict, evaluate and read. Owners manage members and budgets.",
  viewer: "You may read. An owner can make you a member.",
};

const localIssuer = "urn:presage:local";

function Issuer({ issuer }: { issuer: string }) {
  if (issuer === localIssuer) return "None: sign-in links of this server";
  return <span className="font-mono text-xs">{issuer}</span>;
}

/** What the server stores of the account's predictions. If this cannot be loaded, the card above says so. */
function CaptureCard() {
  const presage = usePresage();
  const { data: me } = useQuery(meQuery(presage));
  if (me === undefined) return null;
  const { setting, max_age_days } = me.capture;
  return (
    <Card
      title="Stored predictions"
      hint="Prompts and responses, readable by everyone in your account. An API key can override the setting."
    >
      <dl className="grid gap-x-6 gap-y-2 px-4 py-3 text-sm sm:grid-cols-[9rem_minmax(0,1fr)]">
        <Fact look="row" name="Which are stored">
          {humanizeName(describeCapture(setting))}
        </Fact>
        <Fact look="row" name="Deleted after">
          {counted(max_age_days, "day")}
        </Fact>
      </dl>
    </Card>
  );
}

const themes = [
  { value: "light", label: "Light" },
  { value: "dark", label: "Dark" },
  { value: "system", label: "System" },
] as const;

function ThemeMenu() {
  const theme = useSyncExternalStore(watchTheme, readTheme);
  return <Segmented label="Colour theme" value={theme} options={themes} onChange={storeTheme} />;
}
