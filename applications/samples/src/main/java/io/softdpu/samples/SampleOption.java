package io.softdpu.samples;

/** A setting of a sample. */
public enum SampleOption {
    /** The device that it works on. */
    DEVICE("device", "DEVICE", "The device: PCI address, ibdev name or interface name"),
    /** The representor of the function that it serves. */
    REPRESENTOR("representor", "NAME", "The representor of the host's function"),
    /** The text that it works with. */
    TEXT("text", "TEXT", "The text to copy, instead of a file"),
    /** The file that it reads. */
    FILE("file", "FILE", "The file to copy, instead of a text"),
    /** The file that it writes. */
    OUTPUT("output", "FILE", "The file to write what was copied to"),
    /** The time limit. */
    TIMEOUT("timeout", "SECONDS", "How long it may take in all, waiting for the peer included");

    private final String word;
    private final String label;
    private final String description;

    SampleOption(String word, String label, String description) {
        this.word = word;
        this.label = label;
        this.description = description;
    }

    /** Its name on a command line, without hyphens before it. */
    public String word() {
        return word;
    }

    /** The placeholder of its value in a help text. */
    public String label() {
        return label;
    }

    /** A short description. */
    public String description() {
        return description;
    }
}
