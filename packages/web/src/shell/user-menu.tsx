import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { BookOpen, ChevronsUpDown, LogOut, Megaphone, SunMoon, UserRound } from "lucide-react";
import { Suspense, useState } from "react";
import { meQuery, useSignOut } from "../data/accounts.ts";
import { usePresage } from "../data/client.ts";
import { switchTheme } from "../theme.ts";
import { Dialog } from "../ui/dialog.tsx";
import { lazyPart } from "../ui/load.ts";
import { Menu, MenuItem } from "../ui/menu.tsx";
import { ErrorNotice } from "../ui/notice.tsx";

const ChangelogDialog = lazyPart(async () => (await import("./changelog.tsx")).ChangelogDialog);

export function UserMenu() {
  const presage = usePresage();
  const navigate = useNavigate();
  const { data: me } = useQuery(meQuery(presage));
  const signOut = useSignOut();
  const [showsChangelog, setShowsChangelog] = useState<boolean>();
  const name = me?.name ?? me?.email ?? "";
  return (
    <>
      <Menu
        trigger={
          <button
            type="button"
            className="flex w-full items-center gap-2 rounded-md px-2 py-1.5 text-left text-sm hover:bg-hover rail:justify-center"
          >
            <span
              aria-hidden
              className="flex size-7 shrink-0 items-center justify-center rounded-full bg-accent-soft text-xs font-semibold text-accent-ink uppercase"
            >
              {name.charAt(0) || <UserRound className="size-4" />}
            </span>
            <span className="min-w-0 flex-1 rail:sr-only">
              {/* Until the user is known, the lines are empty rather than absent. */}
              {me === undefined && <span className="sr-only">Account</span>}
              <span className="block truncate font-medium">{name || "\u00a0"}</span>
              <span className="block truncate text-xs text-ink-3">
                {me === undefined ? "\u00a0" : (me.email ?? "Local mode")}
              </span>
            </span>
            <ChevronsUpDown className="size-4 shrink-0 text-ink-3 rail:hidden" aria-hidden />
          </button>
        }
      >
        <MenuItem icon={<UserRound aria-hidden />} onSelect={() => navigate({ to: "/account" })}>
          Account and sessions
        </MenuItem>
        <MenuItem icon={<SunMoon aria-hidden />} onSelect={switchTheme}>
          Light or dark
        </MenuItem>
        <MenuItem icon={<BookOpen aria-hidden />} onSelect={() => location.assign("/docs")}>
          API reference
        </MenuItem>
        <MenuItem icon={<Megaphone aria-hidden />} onSelect={() => setShowsChangelog(true)}>
          <span className="flex-1">What is new</span>
          <span className="text-xs text-ink-3">{me && `Presage ${me.server_version}`}</span>
        </MenuItem>
        <MenuItem icon={<LogOut aria-hidden />} onSelect={() => signOut.mutate()}>
          Sign out
        </MenuItem>
      </Menu>
      <Suspense>
        {showsChangelog !== undefined && (
          <ChangelogDialog
            isOpen={showsChangelog}
            onClose={() => setShowsChangelog(false)}
            version={me?.server_version ?? ""}
          />
        )}
      </Suspense>
      <Dialog isOpen={signOut.isError} onClose={signOut.reset} title="You are still signed in">
        <ErrorNotice error={signOut.error} onRetry={() => signOut.mutate()} />
      </Dialog>
    </>
  );
}
