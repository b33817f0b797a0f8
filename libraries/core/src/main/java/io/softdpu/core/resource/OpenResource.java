package io.softdpu.core.resource;

/**
 * Resource that was created and not released yet.
 *
 * @param name its kind and a number or name: {@code descriptor 12}, {@code mapping 0x7f0000000000},
 *     {@code thread 31}, {@code region 5/2}, {@code lease 1a of a region}
 * @param createdAt stack trace of its creation; if another thread has created it on request, that
 *     of the request is the cause
 */
public record OpenResource(String name, Throwable createdAt) {
    /** The kind: the first word of the name. */
    public String kind() {
        return name.substring(0, name.indexOf(' '));
    }
}
