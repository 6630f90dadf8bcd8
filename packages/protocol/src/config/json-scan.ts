/** A number of a JSON text, digits kept. */
export interface JsonNumber {
  readonly kind: 'number'
  readonly text: string
}
export interface JsonObject {
  readonly kind: 'object'
  readonly members: { readonly key: string; readonly value: JsonValue; readonly offset: number }[]
}
export interface JsonArray {
  readonly kind: 'array'
  readonly items: { readonly value: JsonValue; readonly offset: number }[]
}
export type JsonValue = string | boolean | null | JsonNumber | JsonObject | JsonArray

/** As deep as protobuf's own JSON parser goes. */
const DEEPEST = 100

/** Thrown and caught inside this room: the text is not JSON, or deeper than is allowed. */
export class JsonSyntaxError extends Error {
  readonly offset: number
  constructor(message: string, offset: number) {
    super(message)
    this.offset = offset
  }
}

/** Reads JSON without losing a digit. Throws JsonSyntaxError. */
export function scanJson(text: string): JsonValue {
  const scanner = new Scanner(text)
  const value = scanner.readValue(0)
  scanner.expectEnd()
  return value
}

class Scanner {
  private readonly text: string
  private at = 0
  constructor(text: string) {
    this.text = text
  }

  readValue(depth: number): JsonValue {
    this.skipBlank()
    const char = this.text.charAt(this.at)
    if (char === '{') return this.readObject(depth + 1)
    if (char === '[') return this.readArray(depth + 1)
    if (char === '"') return this.readString()
    return this.readWord()
  }

  expectEnd(): void {
    this.skipBlank()
    if (this.at < this.text.length) this.fail('Unexpected token.')
  }

  private readObject(depth: number): JsonObject {
    this.open(depth)
    const members: JsonObject['members'] = []
    if (this.tryTake('}')) return { kind: 'object', members }
    do {
      this.skipBlank()
      if (this.text.charAt(this.at) !== '"') this.fail('Expected a name in double quotes.')
      const key = this.readString()
      if (!this.tryTake(':')) this.fail('Expected : after the name.')
      this.skipBlank()
      const offset = this.at
      members.push({ key, value: this.readValue(depth), offset })
    } while (this.tryTake(','))
    if (!this.tryTake('}')) this.fail('Expected , or }.')
    return { kind: 'object', members }
  }

  private readArray(depth: number): JsonArray {
    this.open(depth)
    const items: JsonArray['items'] = []
    if (this.tryTake(']')) return { kind: 'array', items }
    do {
      this.skipBlank()
      const offset = this.at
      items.push({ value: this.readValue(depth), offset })
    } while (this.tryTake(','))
    if (!this.tryTake(']')) this.fail('Expected , or ].')
    return { kind: 'array', items }
  }

  private open(depth: number): void {
    if (depth > DEEPEST) this.fail('Message too deep. Max recursion depth reached.')
    this.at += 1
  }

  private readString(): string {
    const start = this.at
    for (this.at += 1; this.at < this.text.length; this.at += 1) {
      const code = this.text.charCodeAt(this.at)
      if (code === 92) this.at += 1
      else if (code === 34) {
        this.at += 1
        return this.decodeString(start)
      }
    }
    return this.fail('Expected a closing quote.')
  }

  private decodeString(start: number): string {
    try {
      return JSON.parse(this.text.slice(start, this.at)) as string
    } catch {
      this.at = start
      return this.fail('Invalid string.')
    }
  }

  private readWord(): JsonValue {
    const word = /[-+\w.]*/y
    word.lastIndex = this.at
    const found = word.exec(this.text)?.[0] ?? ''
    if (found === 'true' || found === 'false') {
      this.at += found.length
      return found === 'true'
    }
    if (found === 'null') {
      this.at += 4
      return null
    }
    if (!/^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?$/.test(found)) this.fail('Unexpected token.')
    this.at += found.length
    return { kind: 'number', text: found }
  }

  private tryTake(char: string): boolean {
    this.skipBlank()
    if (this.text.charAt(this.at) !== char) return false
    this.at += 1
    return true
  }

  private skipBlank(): void {
    for (;;) {
      const code = this.text.charCodeAt(this.at)
      if (code !== 32 && code !== 10 && code !== 13 && code !== 9) return
      this.at += 1
    }
  }

  private fail(message: string): never {
    throw new JsonSyntaxError(message, this.at)
  }
}
