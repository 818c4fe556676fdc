# frozen_string_literal: true

# How a connection waits while another one writes.
#
# The adapter's own timeout waits inside SQLite, which holds Ruby's lock: the writer, if it is a thread or a fiber of
# the same process, could then not go on, and both would wait until the time is over. Ruby's sleep lets others run.
module PatientSQLite
  PATIENCE = 5 # seconds
  NAP = 0.002

  private

  def configure_connection
    @raw_connection.busy_handler do |naps|
      sleep NAP
      naps * NAP < PATIENCE
    end
    super
  end
end

ActiveSupport.on_load(:active_record_sqlite3adapter) { prepend PatientSQLite }
