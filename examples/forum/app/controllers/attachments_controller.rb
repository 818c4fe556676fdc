# frozen_string_literal: true

class AttachmentsController < ApplicationController
  # Always as a download, whatever its type: a page that someone uploaded must not run as one of the forum's.
  def show
    attachment = Attachment.find(params[:id])
    send_file attachment.path, filename: attachment.name, type: attachment.content_type, disposition: "attachment"
  end
end
