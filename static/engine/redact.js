/**
 * What a log tells of people and machines, and what stands in its place before a text is handed on.
 * Nothing here is sure to be found: the reader sees the list, and the text, before copying it.
 */

/** @typedef {"token" | "e-mail" | "address" | "host" | "user"} Kind */
/** `found` is replaced by `shown` wherever it stands on its own. @typedef {{kind: Kind, found: string, shown: string}} Redaction */

export const KINDS = /** @type {const} */ (["token", "e-mail", "address", "host", "user"]);

const CREDENTIALS = /:\/\/([^\s/:@]{1,100}:[^\s/@]{1,200})@/g;
const TOKENS = [
  /(?<![\w-])(?:hf_[A-Za-z0-9]{16,}|sk-[\w-]{16,}|gh[pousr]_[A-Za-z0-9]{16,}|github_pat_\w{20,}|glpat-[\w-]{16,}|xox[abprs]-[\w-]{10,}|(?:AKIA|ASIA)[A-Z0-9]{16}|AIza[\w-]{30,}|nvapi-[\w-]{16,}|r8_[A-Za-z0-9]{16,}|pypi-[\w-]{16,}|eyJ[\w-]{8,}\.[\w-]{4,}\.[\w-]*)/g,
  /\bBearer\s{1,4}([\w.~+/-]{12,}=*)/g,
  CREDENTIALS,
  /passw(?:or)?d["']?\s{0,4}[=:]\s{0,4}["']?([^\s"',;]{3,})/gi,
];
const NAMED_TOKEN =
  /(?:api[_-]?key|token|secret|credentials?|access[_-]?key(?:[_-]?id)?|authorization)["']?\s{0,4}[=:]\s{0,4}["']?(?:Basic\s{1,4})?([^\s"',;<>|[\](){}]{8,})/gi;
const E_MAIL = /(?<![\w.%+-])[\w.%+-]{1,64}@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63}){0,5}\.[A-Za-z]{2,12}(?![\w-])/g;
const IPV4 = /(?<![\w.-]|==|ersion )([0-9]{1,3})(?:\.[0-9]{1,3}){3}(?![\w-]|\.[0-9])/g;
const IPV6 = /(?<![\w:.])[0-9A-Fa-f]{0,4}(?::[0-9A-Fa-f]{0,4}){2,7}(?![\w:])/g;
const SSH = /(?<![\w.@/-])([a-z_][a-z0-9_-]{2,31})@([A-Za-z][\w-]{1,62}(?:\.[\w-]{1,62}){0,5})(?![\w@])/g;

/** Where a host's name stands; group 1 is the name. */
const HOSTS = [
  /(?<![\w.@/-])([A-Za-z0-9][\w-]{0,62}(?:\.[\w-]{1,63}){0,5}\.(?:local|internal|lan|corp|intra|intranet|edu|gov|mil))(?![\w-])/g,
  /(?<![\w.@/-])([\w-]{1,63}(?:\.[\w-]{1,63}){0,4}\.(?:amazonaws\.com|azure\.com|googleusercontent\.com))(?![\w-])/g,
  /(?<![\w-])(ip-[0-9]{1,3}(?:-[0-9]{1,3}){3})(?![\w-])/g,
  /(?<![\w.@/-])([A-Za-z][\w.-]{1,80}):[0-9]{1,8}:[0-9]{1,8} (?:\[[0-9]+\] )?NCCL/g,
  /srun: error: ([A-Za-z][\w.[\],-]{1,200}): tasks?/g,
  /\bON ([\w.-]{2,80}) CANCELLED/g,
  /\bNode failure on ([\w.[\],-]{2,200})/g,
  /RUNNING AT ([\w.-]{2,80})/g,
  /^\s{0,8}host\s{1,8}: ([\w.-]{2,80})/gm,
  /--(?:master[_-]addr|rdzv[_-]endpoint|hostname)[= ]([A-Za-z][\w.-]{1,80})/g,
  /connect to \(([A-Za-z][\w.-]{1,80}), ?[0-9]/g,
  /[0-9]{2}:[0-9]{2}:[0-9]{2} ([A-Za-z][\w.-]{1,80}) (?:kernel|slurmstepd|slurmd|systemd)[:[]/g,
  /https?:\/\/(?:[^\s/@]{1,200}@)?([A-Za-z0-9][\w-]{0,62}(?:\.[\w-]{1,63}){0,5})/g,
];
/** Where a host's name may stand, if it looks like one. */
const MAYBE_HOSTS = [
  /(?:hostname|nodename|nodelist|master_addr|rdzv_endpoint)["']?\s{0,4}[=:]\s{0,4}["']?([A-Za-z][\w.[\],-]{1,200})/gi,
  /\[([A-Za-z][\w.-]{1,80})\]:[0-9]{2,5}(?![0-9])/g,
];
const USERS = [
  /(?<![\w.-])(?:\/[\w.-]{1,60}){0,4}?\/(?:home|Users|users|scratch)\/([A-Za-z_][\w.-]{1,60})/g,
  /[A-Za-z]:[\\/]{1,2}Users[\\/]{1,2}([\w.-]{2,60})/g,
  /\b(?:USER|LOGNAME|USERNAME|SLURM_JOB_USER)["']?[=:]\s{0,4}["']?([A-Za-z_][\w.-]{1,60})/g,
  /\buid=[0-9]{1,10}\(([A-Za-z_][\w.-]{1,60})\)/g,
];

/** Names that tell nobody's machine or name. */
const NO_HOST =
  /^(?:localhost|node|host|nodes|login|none|null|true|false|auto|cpu|torch|python[0-9.]*|(?:node|login)-[a-z]|(?:rank|default)[0-9]*|trainer|worker|process|stage|gpu|cuda)$/i;
const PUBLIC =
  /(?:^|\.)(?:pytorch\.org|pydantic\.dev|github\.com|githubusercontent\.com|huggingface\.co|deepspeed\.ai|nvidia\.com|python\.org|wandb\.ai|microsoft\.com|google\.com|readthedocs\.io|kernel\.org|schedmd\.com|aka\.ms|example\.(?:com|org|net))$/i;
const NO_USER =
  /^(?:user|users|ubuntu|root|pdsh|runner|admin|shared|share|common|public|default|data|datasets?|models?|workspace|projects?|cache|envs?|conda|anaconda3|miniconda3|user-[0-9]+)$/i;
const DOCUMENTATION = /^(?:127\.|0\.0\.0\.0$|255\.|192\.0\.2\.|198\.51\.100\.|203\.0\.113\.)/;

/**
 * What to redact in these texts, in the order of the kinds, each found text once.
 * @param {string[]} texts @param {string[]} [hosts] names of machines that are known already
 * @returns {Redaction[]}
 */
export function redactionsOf(texts, hosts = []) {
  const finder = new Finder();
  let all = texts.join("\n");
  for (const pattern of TOKENS) finder.each(all, pattern, "token");
  finder.each(all, NAMED_TOKEN, "token", (text) => /[0-9]/.test(text) && /[A-Za-z]/.test(text));
  all = all.replace(CREDENTIALS, "://");
  finder.each(all, E_MAIL, "e-mail", (text) => !/@example\.(?:com|org|net)$/.test(text));
  finder.each(all, IPV4, "address", isPrivateAddress, true);
  finder.each(all, IPV6, "address", isIpv6, true);
  for (const [, user, host] of all.matchAll(SSH)) {
    if (isUser(user)) finder.add("user", user);
    if (isHost(host)) finder.add("host", host);
  }
  for (const host of hosts.filter(isHost)) finder.add("host", host);
  for (const pattern of HOSTS) finder.each(all, pattern, "host", isHost);
  for (const pattern of MAYBE_HOSTS) finder.each(all, pattern, "host", (text) => /[0-9.-]/.test(text) && isHost(text));
  finder.addFirstLabels(all);
  for (const pattern of USERS) finder.each(all, pattern, "user", isUser);
  return finder.redactions();
}

/** How often each is in the texts. @param {string[]} texts @param {Redaction[]} redactions @returns {number[]} */
export function countsOf(texts, redactions) {
  /** @type {Map<string, number>} */
  const counts = new Map();
  const pattern = patternOf(redactions);
  if (pattern === null) return [];
  for (const text of texts) {
    for (const [found] of text.matchAll(pattern)) counts.set(found, (counts.get(found) ?? 0) + 1);
  }
  return redactions.map(({ found }) => counts.get(found) ?? 0);
}

/** A function that gives a text with all that is redacted in it. @param {Redaction[]} redactions @returns {(text: string) => string} */
export function redactor(redactions) {
  const pattern = patternOf(redactions);
  const shown = new Map(redactions.map((redaction) => [redaction.found, redaction.shown]));
  return (text) => (pattern === null ? text : text.replace(pattern, (found) => shown.get(found) ?? found));
}

/**
 * A JSON value in which every text is redacted; keys stay.
 * @template T @param {T} value @param {(text: string) => string} redact @returns {T}
 */
export function redactedJson(value, redact) {
  /** @param {unknown} part @returns {unknown} */
  const walk = (part) => {
    if (typeof part === "string") return redact(part);
    if (Array.isArray(part)) return part.map(walk);
    if (part === null || typeof part !== "object") return part;
    return Object.fromEntries(Object.entries(part).map(([key, each]) => [key, walk(each)]));
  };
  return /** @type {T} */ (walk(value));
}

/** All found texts in one expression, the longest first, each on its own. @param {Redaction[]} redactions */
function patternOf(redactions) {
  if (redactions.length === 0) return null;
  const names = redactions
    .map(({ found }) => found)
    .sort((a, b) => b.length - a.length || (a < b ? -1 : 1))
    .map(escaped);
  return new RegExp(`(?<!\\w)(?:${names.join("|")})(?!\\w)`, "g");
}

/** A text as an expression that finds it. @param {string} text */
function escaped(text) {
  return text.replace(/[.*+?^${}()|[\]\\/-]/g, "\\$&");
}

/** Collects what is found, and numbers what stands in its place. */
class Finder {
  constructor() {
    /** @type {Map<string, Kind>} */
    this.found = new Map();
  }

  /**
   * @param {string} text @param {RegExp} pattern @param {Kind} kind
   * @param {(text: string) => boolean} [fits] @param {boolean} [whole] whether groups are no part of the name
   */
  each(text, pattern, kind, fits = () => true, whole = false) {
    for (const match of text.matchAll(pattern)) {
      const found = (whole ? match[0] : (match[1] ?? match[0])).replace(/[.,;:]+$/, "");
      if (found !== "" && fits(found)) this.add(kind, found);
    }
  }

  /** @param {Kind} kind @param {string} found */
  add(kind, found) {
    if (!this.found.has(found)) this.found.set(found, kind);
  }

  /** Add the hosts' names without their domains, where these stand alone and look like a machine's. @param {string} text */
  addFirstLabels(text) {
    for (const name of this.of("host")) {
      const [label] = name.split(".");
      if (label === name || !/[0-9-]/.test(label) || !isHost(label)) continue;
      if (new RegExp(`(?<![\\w.-])${escaped(label)}(?![\\w.-])`).test(text)) this.add("host", label);
    }
  }

  /** One for each found text. A host has one name in its place, with its domain or without. @returns {Redaction[]} */
  redactions() {
    return KINDS.flatMap((kind) => {
      /** @type {Map<string, number>} */
      const numbers = new Map();
      return this.of(kind).map((text) => {
        const [label] = text.split(".");
        const same = kind === "host" && this.found.get(label) === "host" ? label : text;
        const number = numbers.get(same) ?? numbers.size + 1;
        numbers.set(same, number);
        return { kind, found: text, shown: placeholder(kind, text, number) };
      });
    });
  }

  /** @param {Kind} kind @returns {string[]} */
  of(kind) {
    return [...this.found].filter(([, of]) => of === kind).map(([text]) => text);
  }
}

/** @param {Kind} kind @param {string} found @param {number} number */
function placeholder(kind, found, number) {
  if (kind === "token") return `[token ${number}]`;
  if (kind === "e-mail") return `user-${number}@example.com`;
  if (kind === "host") return `host-${number}`;
  if (kind === "user") return `user-${number}`;
  if (found.includes(":")) return `2001:db8::${number.toString(16)}`;
  return number < 255 ? `192.0.2.${number}` : `198.51.100.${number % 255}`;
}

/** @param {string} text */
function isPrivateAddress(text) {
  return text.split(".").every((part) => Number(part) < 256) && !DOCUMENTATION.test(text);
}

/** No time of day, no C++ name, no bus address. @param {string} text */
function isIpv6(text) {
  if (text === "::1" || text === "::" || /^2001:db8:/i.test(text) || text.split("::").length > 2) return false;
  const groups = text.split(":").filter((group) => group !== "");
  if (!text.includes("::")) return groups.length === 8;
  return groups.length > 2 || (groups.length === 2 && /^(?:fe80|f[cd]|2[0-9a-f]{3})/i.test(text));
}

/** @param {string} text */
function isHost(text) {
  return text.length > 2 && !NO_HOST.test(text) && !PUBLIC.test(text) && /[A-Za-z]/.test(text) && !/^host-[0-9]+$/.test(text);
}

/** @param {string} text */
function isUser(text) {
  return text.length > 1 && !NO_USER.test(text);
}
