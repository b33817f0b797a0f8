package io.softdpu.perf.text;

/** Sizes in bytes in readable form. */
public final class SizeText {
    private SizeText() {}

    /** A size in the largest unit that fits, of four digits: {@code 64 MiB}, {@code 73.59 GiB}. */
    public static String rounded(long bytes) {
        String[] units = {" B", " KiB", " MiB", " GiB", " TiB", " PiB"};
        int unit = 0;
        long divisor = 1;
        while (unit < units.length - 1 && bytes / divisor >= 1024) {
            divisor <<= 10;
            unit++;
        }
        String number =
                bytes % divisor == 0
                        ? Long.toString(bytes / divisor)
                        : Figures.number((double) bytes / divisor);
        return number + units[unit];
    }

    /** The shortest exact text for a size: {@code 64MiB}, {@code 4KiB}, {@code 1000}. */
    public static String format(long bytes) {
        String[] units = {"", "KiB", "MiB", "GiB"};
        int unit = 0;
        long number = bytes;
        while (unit < 3 && number != 0 && number % 1024 == 0) {
            number >>= 10;
            unit++;
        }
        return number + units[unit];
    }
}
