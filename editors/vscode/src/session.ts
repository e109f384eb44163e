// Runs the server: finds it or offers to set it up, starts, restarts and stops it.

import {
  commands,
  type Disposable,
  type ExtensionContext,
  l10n,
  type LogOutputChannel,
  workspace,
} from "vscode";
import type { LanguageClient } from "vscode-languageclient/node";
import { DraftView } from "./draftView";
import { activePython, findServer, pathWithout, type ServerProgram } from "./findServer";
import type { GhostText } from "./ghostText";
import type { NextEdits } from "./nextEdits/nextEdits";
import type { Pause } from "./pause";
import { run } from "./run";
import type { SessionState } from "./statusItem";
import { offerSetUp, sayReady } from "./setup/consent";
import { hasAnyEnvironment, readBundle } from "./setup/privateEnvironment";
import { currentPath } from "./setup/programs";
import { setUpServer } from "./setup/setUp";

export class Session implements Disposable {
  client: LanguageClient | null = null;
  program: ServerProgram | null = null;
  ghostText: GhostText | null = null;
  nextEdits: NextEdits | null = null;
  state: SessionState = { kind: "searching" };
  private readonly drafts = new DraftView();
  private readonly bundle;
  private schemes: readonly string[] = []; // of the documents that the client sends
  private isNew = false; // set up in this window, and not ready since
  private turn: Promise<void> = Promise.resolve();

  constructor(
    private readonly context: ExtensionContext,
    private readonly log: LogOutputChannel,
    private readonly pause: Pause,
    private readonly onState: () => void,
  ) {
    this.bundle = readBundle(context.extensionPath);
  }

  /** Folder that programs run in: never an opened one. */
  get folder(): string {
    return this.context.globalStorageUri.fsPath;
  }

  /** Find a server and start it; if there is none, offer to set one up. */
  start(): Promise<void> {
    return this.inTurn(async () => {
      const program = await this.find();
      if (program !== null) {
        await this.run(program);
      } else {
        this.become({ kind: "missing" });
        const isUpdate = await hasAnyEnvironment(this.folder); // for a server of another version
        void offerSetUp(this.context, isUpdate).then((isWanted) =>
          isWanted ? this.setUp() : undefined,
        );
      }
    });
  }

  restart(): Promise<void> {
    void this.inTurn(() => this.stop());
    return this.start();
  }

  /** Start another server if settings or trust have changed and another one is found now. */
  async reconsider(): Promise<void> {
    const program = await this.find();
    if (JSON.stringify(program) !== JSON.stringify(this.program)) {
      await this.restart();
    }
  }

  /** Restart the server if the opened folders hold documents that it does not get yet. */
  async foldersChanged(): Promise<void> {
    if (this.client !== null && documentSchemes().some((it) => !this.schemes.includes(it))) {
      await this.restart();
    }
  }

  setUp(): Promise<void> {
    return this.inTurn(async () => {
      await this.stop();
      await this.setUpAndRun();
    });
  }

  async stop(): Promise<void> {
    const { client } = this;
    this.client = null;
    this.ghostText?.dispose();
    this.ghostText = null;
    this.nextEdits?.dispose();
    this.nextEdits = null;
    await client?.dispose().catch((error: unknown) => this.log.warn(String(error)));
  }

  dispose(): void {
    this.drafts.dispose();
  }

  private async find(): Promise<ServerProgram | null> {
    return findServer({
      run,
      bundle: this.bundle,
      storage: this.folder,
      serverCommand: workspace.getConfiguration("intarsia").get<string[]>("serverCommand", []),
      isTrusted: workspace.isTrusted,
      path: this.path,
      activePython,
    });
  }

  /** The PATH without folders whose programs must not be run. */
  private get path(): string {
    const folders = workspace.isTrusted ? [] : (workspace.workspaceFolders ?? []);
    const untrusted = folders.map(({ uri }) => uri.fsPath);
    return pathWithout(currentPath(), untrusted);
  }

  private async setUpAndRun(): Promise<void> {
    this.become({ kind: "settingUp", message: l10n.t("Waiting for your consent.") });
    await setUpServer({
      bundle: this.bundle,
      storage: this.folder,
      log: this.log,
      report: (message) => this.become({ kind: "settingUp", message }),
      path: this.path,
    });
    const program = await this.find();
    if (program === null) {
      this.become({ kind: "missing" });
    } else {
      this.isNew = true;
      await this.run(program);
    }
  }

  private async run(program: ServerProgram): Promise<void> {
    this.program = program;
    this.become({ kind: "starting", origin: program.origin });
    this.log.info(`starting ${[program.command, ...program.args].join(" ")} (${program.origin})`);
    const { createClient } = await import("./client");
    const { GhostText } = await import("./ghostText");
    const { NextEdits } = await import("./nextEdits/nextEdits");
    await workspace.fs.createDirectory(this.context.globalStorageUri);
    const ghostText = new GhostText(
      () => client,
      this.pause,
      this.drafts,
      (hasSuggestion) => {
        void commands.executeCommand("setContext", "intarsia.hasSuggestion", hasSuggestion);
        this.nextEdits?.update();
      },
    );
    const nextEdits = new NextEdits(
      () => client,
      () => this.pause.isOn || ghostText.shown() !== null,
      ghostText.giveWay,
    );
    const { origin } = program;
    this.schemes = documentSchemes();
    const client: LanguageClient = createClient({
      program,
      cwd: this.folder,
      schemes: this.schemes,
      log: this.log,
      ghostText,
      nextEdits,
      onStatus: (status) => {
        this.become({ kind: "running", origin, status });
        if (this.isNew && status.state === "ready" && status.model !== null) {
          this.isNew = false;
          void sayReady();
        }
      },
      onEnded: (isStartedAgain) =>
        isStartedAgain
          ? this.become({ kind: "starting", origin })
          : this.fail(
              l10n.t("the server has ended and is not restarted: see the log, then restart it"),
            ),
    });
    this.client = client;
    this.ghostText = ghostText;
    this.nextEdits = nextEdits;
    try {
      await client.start();
    } catch (error) {
      await this.stop();
      this.fail(l10n.t("the server of {0} did not start: {1}", origin, String(error)));
      return;
    }
    if (this.state.kind === "starting") {
      this.become({ kind: "running", origin, status: null });
    }
  }

  private fail(message: string): void {
    this.log.error(message);
    this.become({ kind: "failed", message });
  }

  private become(state: SessionState): void {
    this.state = state;
    if (state.kind === "missing") {
      this.program = null;
    }
    const isRunning = state.kind === "running";
    void commands.executeCommand("setContext", "intarsia.ready", isRunning);
    void commands.executeCommand("setContext", "intarsia.hasServer", this.program !== null);
    this.onState();
  }

  /** One change at a time: a restart waits for the start before it. */
  private inTurn(act: () => Promise<void>): Promise<void> {
    this.turn = this.turn.then(act).catch((error: unknown) => this.fail(String(error)));
    return this.turn;
  }
}

/**
 * Return the schemes of the documents that the server gets: files, new documents, and whatever the
 * opened folders hold. A folder of a virtual file system has a scheme of its own.
 */
function documentSchemes(): string[] {
  const opened = (workspace.workspaceFolders ?? []).map(({ uri }) => uri.scheme);
  return [...new Set(["file", "untitled", ...opened])];
}
