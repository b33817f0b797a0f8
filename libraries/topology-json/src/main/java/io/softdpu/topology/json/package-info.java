/**
 * Topologies as JSON files: {@link io.softdpu.topology.json.TopologyJson} reads and writes them and
 * provides the bundled ones. An illegal file is rejected with an error that names the file, the
 * line, the field and the expected value. Stateless; any thread.
 */
@NullMarked
package io.softdpu.topology.json;

import org.jspecify.annotations.NullMarked;
