"""Single-line holes in three languages, written for these tests: text before and text after."""

REAL_HOLES: dict[str, tuple[str, str]] = {
    "running mean": (
        "def running_mean(values: list[float]) -> list[float]:\n"
        '    """Return the mean of all values up to and with each one."""\n'
        "    total = 0.0\n    means = []\n    for i, value in enumerate(values):\n",
        "        means.append(total / (i + 1))\n    return means\n",
    ),
    "count vowels": (
        "def count_vowels(text: str) -> int:\n    count = 0\n    for sign in text.lower():\n",
        "            count += 1\n    return count\n",
    ),
    "clamp": (
        'def clamp(value, low, high):\n    """Return value, but no less than low and no more than '
        'high."""\n    if value < low:\n        return low\n    if value > high:\n',
        "    return value\n",
    ),
    "read pairs": (
        "def read_pairs(path):\n    pairs = {}\n    with open(path) as file:\n"
        '        for line in file:\n            name, value = line.strip().split("=", 1)\n',
        "    return pairs\n",
    ),
    "group by": (
        "function groupBy(items, keyOf) {\n  const groups = new Map();\n"
        "  for (const item of items) {\n    const key = keyOf(item);\n"
        "    if (!groups.has(key)) {\n",
        "    }\n    groups.get(key).push(item);\n  }\n  return groups;\n}\n",
    ),
    "debounce": (
        "function debounce(callback, delay) {\n  let timer = null;\n  return (...args) => {\n",
        "    timer = setTimeout(() => callback(...args), delay);\n  };\n}\n",
    ),
    "largest": (
        "fn largest(values: &[i32]) -> Option<i32> {\n    let mut best: Option<i32> = None;\n"
        "    for &value in values {\n",
        "            best = Some(value);\n        }\n    }\n    best\n}\n",
    ),
    "factorial": (
        "fn factorial(n: u64) -> u64 {\n    if n == 0 {\n        return 1;\n    }\n",
        '}\n\nfn main() {\n    println!("{}", factorial(5));\n}\n',
    ),
}
